package agentqueryextension

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

func valid(edit func(*Config)) *Config {
	c := createDefaultConfig().(*Config)
	c.PolicyFile = "builtin:demo"
	if edit != nil {
		edit(c)
	}
	return c
}

func TestAConfigIsRefusedWithEveryProblemByItsKey(t *testing.T) {
	require.NoError(t, valid(nil).Validate())
	for name, c := range map[string]struct {
		edit func(*Config)
		want string
	}{
		"an endpoint without port":             {func(c *Config) { c.Endpoint = "127.0.0.1" }, "endpoint is"},
		"an endpoint with a named port":        {func(c *Config) { c.Endpoint = "127.0.0.1:http" }, "endpoint is"},
		"a port out of range":                  {func(c *Config) { c.Endpoint = "127.0.0.1:70000" }, "endpoint is"},
		"every address without saying so":      {func(c *Config) { c.Endpoint = "0.0.0.0:8686" }, "insecure: true"},
		"an empty host without saying so":      {func(c *Config) { c.Endpoint = ":8686" }, "insecure: true"},
		"a name without saying so":             {func(c *Config) { c.Endpoint = "steptrail.example:8686" }, "insecure: true"},
		"every v6 address without saying so":   {func(c *Config) { c.Endpoint = "[::]:8686" }, "insecure: true"},
		"a name that only looks like loopback": {func(c *Config) { c.Endpoint = "localhost.example:8686" }, "insecure: true"},
		"no storage":                           {func(c *Config) { c.Storage = component.ID{} }, "storage must"},
		"no policy":                            {func(c *Config) { c.PolicyFile = "" }, "policy_file must"},
		"an allowed host with a scheme":        {func(c *Config) { c.AllowedHosts = []string{"a", "http://b"} }, "allowed_hosts[1]"},
		"no time for requests":                 {func(c *Config) { c.RequestTimeout = 0 }, "request_timeout"},
		"less time for histories":              {func(c *Config) { c.HistoryTimeout = time.Second }, "history_timeout"},
		"no requests":                          {func(c *Config) { c.MaxRequests = 0 }, "max_requests"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, valid(c.edit).Validate(), c.want) })
	}
	for _, endpoint := range []string{"127.0.0.1:0", "127.9.9.9:1", "[::1]:8686", "localhost:8686", "LOCALHOST:8686", "app.localhost:1", "[::ffff:127.0.0.1]:1"} {
		require.NoError(t, valid(func(c *Config) { c.Endpoint = endpoint }).Validate(), endpoint)
	}
	require.NoError(t, valid(func(c *Config) { c.Endpoint, c.Insecure = "0.0.0.0:8686", true }).Validate())
	all := valid(func(c *Config) { c.Endpoint, c.PolicyFile, c.MaxRequests = "x", "", -1 }).Validate()
	require.Len(t, strings.Split(all.Error(), "\n"), 3)
}

func TestHostNamesThatAreAllowed(t *testing.T) {
	loopback := valid(nil).hostAllowed()
	for _, host := range []string{"localhost", "localhost:8686", "127.0.0.1:8686", "[::1]:8686", "[::1]", "Localhost.:1", "steptrail.localhost"} {
		require.True(t, loopback(host), host)
	}
	for _, host := range []string{"", "evil.example", "evil.example:8686", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0:8686", "[::]:8686", "2130706433"} {
		require.False(t, loopback(host), host)
	}
	named := valid(func(c *Config) { c.AllowedHosts = []string{"Steptrail.example"} }).hostAllowed()
	require.True(t, named("steptrail.example:443"))
	require.True(t, named("127.0.0.1"))
	require.False(t, named("other.example"))
	require.Nil(t, valid(func(c *Config) { c.AllowedHosts = []string{"*"} }).hostAllowed())
	require.Nil(t, valid(func(c *Config) { c.Endpoint, c.Insecure = "0.0.0.0:1", true }).hostAllowed())
	strict := valid(func(c *Config) { c.Endpoint, c.Insecure, c.AllowedHosts = "0.0.0.0:1", true, []string{"a.example"} }).hostAllowed()
	require.True(t, strict("a.example"))
	require.False(t, strict("localhost"))
}

func TestTheReadmeNamesEveryOptionWithItsDefault(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	conf := confmap.New()
	require.NoError(t, conf.Marshal(createDefaultConfig()))
	for key, value := range conf.ToStringMap() {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(key) + "` \\|.*$").FindString(string(text))
		require.NotEmpty(t, row, key)
		want := strings.Trim(strings.TrimSpace(toText(value)), "[]")
		if want != "" {
			require.Contains(t, row, "`"+want+"`", key)
		}
	}
}
