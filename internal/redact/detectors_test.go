package redact

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// only makes a tenant with one detector, without keys and rules.
func only(tb testing.TB, name string) *Tenant {
	tb.Helper()
	return newTenant(tb, func(c *Config) { c.Detectors, c.Keys, c.Rules = []string{name}, nil, nil })
}

func TestDetectorNamesAreThoseOfThePolicy(t *testing.T) {
	names := DetectorNames()
	slices.Sort(names)
	require.Equal(t, []string{"api_key", "bearer", "credit_card", "email", "iban", "ip", "jwt", "phone", "private_key", "url_credentials", "us_ssn"}, names)
}

func TestOneDetectorAloneFindsItsOwnAndNothingElse(t *testing.T) {
	const text = "ann@example.com 4111111111111111 DE89370400440532013000 +14155552671 078-05-1120 192.0.2.1 " +
		"ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLWhlcmU 'Bearer s9Xk2LmQ7vT4nR8p' " + "gh" + "p_9aKd2mQx91LpZ0vYtR3uW5sE7cB1nM4hJ6gF redis://u:hunter2@h"
	for _, name := range DetectorNames() {
		got, err := only(t, name).Text(text)
		require.NoError(t, err)
		if name == "private_key" {
			require.Empty(t, got.Found)
			continue
		}
		require.Equal(t, []Found{{Detector: name, Count: 1}}, got.Found, "%s: %s", name, got.Stored)
	}
}

func TestOneValueInAllItsSpellingsGetsOnePseudonym(t *testing.T) {
	for name, spellings := range map[string][]string{
		"credit_card": {
			"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4111.1111.1111.1111", "4111\u00a01111\u00a01111\u00a01111", "4111%201111%201111%201111",
			"4111&nbsp;1111&nbsp;1111&nbsp;1111", "4111\u200b111111111111", "４１１１１１１１１１１１１１１１", "٤١١١١١١١١١١١١١١١", `{"card":"4111 1111 1111\u00201111"}`,
			`{"card":4111111111111111}`, "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "card=4111+1111+1111+1111&x",
		},
		"iban":        {"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89-3704-0044-0532-0130-00", "DE89%203704%200044%200532%200130%2000", "DE 89 3704 0044 0532 0130 00"},
		"phone":       {"+14155552671", "+1 (415) 555-2671", "415-555-2671", "(415) 555-2671", "001 415 555 2671", "1-415-555-2671", "%2B14155552671"},
		"us_ssn":      {"078-05-1120", "078 05 1120", "078–05–1120", "078%2D05%2D1120", "ssn 078051120"},
		"ip":          {"2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "2001%3Adb8%3A%3A1"},
		"bearer":      {"Bearer s9Xk2LmQ7vT4nR8p", "bearer%20s9Xk2LmQ7vT4nR8p"},
		"private_key": {"-----BEGIN PRIVATE" + " KEY-----\nMIIB\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE" + ` KEY-----\nMIIB\n-----END PRIVATE KEY-----`},
		"api_key":     {`{"password":"Tr0ub4dor&3"}`, `{"name":"password","value":"Tr0ub4dor\u00263"}`, "password=Tr0ub4dor%263", "u,password\na,Tr0ub4dor&3\n"},
	} {
		tenant, first := only(t, name), ""
		for n, text := range spellings {
			got, err := tenant.Text(text)
			require.NoError(t, err)
			pseudonym := pseudonyms.FindString(got.Stored)
			require.NotEmpty(t, pseudonym, "%s: %q became %q", name, text, got.Stored)
			if n == 0 {
				first = pseudonym
			}
			require.Equal(t, first, pseudonym, "%s: %q", name, text)
		}
	}
}

func TestWhatIsCutOffIsRemovedToTheEnd(t *testing.T) {
	tenant := newTenant(t, nil)
	for text, want := range map[string]string{
		"key: -----BEGIN RSA PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA\nq1w2":          "key: <PRIVATE_KEY>",
		`{"k":"-----BEGIN RSA PRIVATE` + ` KEY-----\nMIIEpAIBAAKCAQEA","n":1}`:       `{"k":"<PRIVATE_KEY>","n":1}`,
		`{"k":"-----BEGIN RSA PRIVATE` + ` KEY-----\nMIIEpAIBAAKC`:                   `{"k":"<PRIVATE_KEY>`,
		"-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----x": "<PRIVATE_KEY>x",
		"-----BEGIN CERTIFICATE-----\nMIIE":                                          "-----BEGIN CERTIFICATE-----\nMIIE",
		"postgres://app:s3cr3t":                                                      "postgres://app:<URL_CREDENTIALS>",
		"http://host:8080":                                                           "http://host:8080",
		"token ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIi":                                   "token <JWT>",
	} {
		require.Equal(t, want, redacted(t, tenant, text), "%q", text)
	}
}
