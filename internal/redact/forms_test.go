package redact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheValueGoesAndWhatIsAroundItStays(t *testing.T) {
	tenant := newTenant(t, func(c *Config) { c.Keys, c.Rules = nil, nil })
	for text, want := range map[string]string{
		// What begins as JSON and is none.
		"[INFO] 12:00 login password=\"Tr0ub4dor3x\" ok": "[INFO] 12:00 login password=\"<SECRET>\" ok",
		"[3] see api_key = \"s9Xk2LmQ7vT4nR8p\" there":   "[3] see api_key = \"<SECRET>\" there",
		"[db]\ntoken = \"s9Xk2LmQ7vT4nR8p\"\nport = 1":   "[db]\ntoken = \"<SECRET>\"\nport = 1",
		`{:user => "ann", :token => "s9Xk2LmQ7vT4nR8p"}`: `{:user => "ann", :token => "<SECRET>"}`,
		`{user: "ann", token: "s9Xk2LmQ7vT4nR8p"}`:       `{user: "ann", token: "<SECRET>"}`,
		`{ "token" = "s9Xk2LmQ7vT4nR8p", n = 1 }`:        `{ "token" = "<SECRET>", n = 1 }`,
		`{user=ann, password=s9Xk2LmQ7vT4nR8p, n=1}`:     `{user=ann, password=<URL_CREDENTIALS>, n=1}`,
		"[('a', 'b'), ('password', 's9Xk2LmQ7vT4nR8p')]": "[('a', 'b'), ('password', '<SECRET>')]",
		"[12:00:01] mail ann@example.com":                "[12:00:01] mail <EMAIL>",
		// Two steps away.
		`{"token":{"value":"s9Xk2LmQ7vT4nR8p"},"n":1}`:               `{"token":{"value":"<SECRET>"},"n":1}`,
		`{"key":"token","value":{"stringValue":"s9Xk2LmQ7vT4nR8p"}}`: `{"key":"token","value":{"stringValue":"<SECRET>"}}`,
		`{"key":"n","value":{"stringValue":"s9Xk2LmQ7vT4nR8p"}}`:     `{"key":"n","value":{"stringValue":"s9Xk2LmQ7vT4nR8p"}}`,
		`["tool","--token","s9Xk2LmQ7vT4nR8p","-v"]`:                 `["tool","--token","<SECRET>","-v"]`,
		`["tool","--token=s9Xk2LmQ7vT4nR8p","s9Xk2LmQ7vT4nR8q"]`:     `["tool","--token=<SECRET>","s9Xk2LmQ7vT4nR8q"]`,
		"variable \"token\" {\n  default = \"s9Xk2LmQ7vT4nR8p\"\n}":  "variable \"token\" {\n  default = \"<SECRET>\"\n}",
		"form-data; name=\"token\"\r\n\r\ns9Xk2LmQ7vT4nR8p\r\n--b":   "form-data; name=\"token\"\r\n\r\n<SECRET>\r\n--b",
		`<entry key="token">s9Xk2LmQ7vT4nR8p</entry>`:                `<entry key="token"><SECRET></entry>`,
		`<key>token</key><string>s9Xk2LmQ7vT4nR8p</string>`:          `<key>token</key><string><SECRET></string>`,
		`<tr><th>token</th><td>s9Xk2LmQ7vT4nR8p</td></tr>`:           `<tr><th>token</th><td><SECRET></td></tr>`,
		`<token><![CDATA[s9Xk2LmQ7vT4nR8p]]></token>`:                `<token><![CDATA[<SECRET>]]></token>`,
		// Code and commands.
		`os.Setenv("API_KEY", "s9Xk2LmQ7vT4nR8p")`:                 `os.Setenv("API_KEY", "<SECRET>")`,
		`ds.setPassword("s9Xk2LmQ7vT4nR8p");`:                      `ds.setPassword("<SECRET>");`,
		`Config { token: Some("s9Xk2LmQ7vT4nR8p"), n: 1 }`:         `Config { token: Some("<SECRET>"), n: 1 }`,
		`const apiKey string = "s9Xk2LmQ7vT4nR8p"`:                 `const apiKey string = "<SECRET>"`,
		`token = process.env.X || 's9Xk2LmQ7vT4nR8p'`:              `token = process.env.X || '<SECRET>'`,
		"ENV API_KEY s9Xk2LmQ7vT4nR8p\nRUN x":                      "ENV API_KEY <SECRET>\nRUN x",
		"app -token s9Xk2LmQ7vT4nR8p -v":                           "app -token <SECRET> -v",
		"login ann password s9Xk2LmQ7vT4nR8p\n":                    "login ann password <SECRET>\n",
		"The API key is s9Xk2LmQ7vT4nR8p, keep it.":                "The API key is <SECRET>, keep it.",
		"token: |\n  s9Xk2LmQ7vT4nR8p\nn: 1":                       "token: |\n  <SECRET>\nn: 1",
		"token:\n  - s9Xk2LmQ7vT4nR8p\n  - s9Xk2LmQ7vT4nR8q\nn: 1": "token:\n  - <SECRET>\n  - <SECRET>\nn: 1",
		"请用token：s9Xk2LmQ7vT4nR8p，谢谢":                              "请用token：<SECRET>，谢谢",
		// URLs.
		"https://a.example/f?sr=b&sig=kO%2F8MWVI3WAzafzuC0esorwpW1MyD3I%3D&x=1": "https://a.example/f?sr=b&sig=<URL_CREDENTIALS>&x=1",
		"db://ann:a%40b%2Fc%20d@host/x":                                         "db://ann:<URL_CREDENTIALS>@host/x",
		"git clone https://zbwXW5ibgnqUihdTBdDCOD7vq:x-oauth-basic@host/r":      "git clone https://<URL_CREDENTIALS>@host/r",
		"SET password = $1 WHERE id = $2":                                       "SET password = $1 WHERE id = $2",
		// Numbers.
		"ids 152 7 415 38 5471 470 9152800 205":             "ids 152 7 415 38 5471 470 9152800 205",
		"ids 5161 55 3974 281 688 3732 7214411 0 18":        "ids 5161 55 3974 281 688 3732 7214411 0 18",
		"scores: 43 00 59 01 57 05 51 49 99 23":             "scores: 43 00 59 01 57 05 51 49 99 23",
		"index 35a051f..0040790 100644":                     "index 35a051f..0040790 100644",
		"415 555 2671 415 555 2672 415 555 2673":            "<PHONE> <PHONE> <PHONE>",
		`{"order_number":"4111111111111111"}`:               `{"order_number":"4111111111111111"}`,
		`{"order":"paid by card 4111111111111111"}`:         `{"order":"paid by card <CREDIT_CARD>"}`,
		"card 6762 4580 7521; ref 6762 4580 7521":           "card <CREDIT_CARD>; ref 6762 4580 7521",
		"6304-9311-2052-4255-51 or 6363 6840 0197 1042":     "<CREDIT_CARD> or <CREDIT_CARD>",
		"<Version>20.17.6.2</Version> >= 1.2.3.4, §1.2.3.4": "<Version>20.17.6.2</Version> >= 1.2.3.4, §1.2.3.4",
		"<ip>20.17.6.2</ip> addr:2001:db8::1":               "<ip><IP></ip> addr:<IP>",
		`write to "john doe"@example.com today`:             "write to <EMAIL> today",
		// Keys.
		"k=-----BEGIN+RSA+PRIVATE" + "+KEY-----%0AMIIE%2B%0A-----END+RSA+PRIVATE+KEY-----&n=1": "k=<PRIVATE_KEY>&n=1",
		"-----BEGIN RSA PRIVATE" + " KEY----- is how it starts":                                "-----BEGIN RSA PRIVATE" + " KEY----- is how it starts",
		"IBANsa2999k7zfhav89s8qd46vbu BIC x":                                                   "IBAN<IBAN> BIC x",
		"paid (+5511956145118), (+55) 11 95614-5118":                                           "paid (<PHONE>), <PHONE>",
		"with 4332 375 514 216 or 4332375514216":                                               "with <CREDIT_CARD> or 4332375514216",
		"https://UMSrIXDGhbfnrbMkcGVcqgiseLcoeM:x-oauth-basic@host/r":                          "https://<URL_CREDENTIALS>@host/r",
	} {
		require.Equal(t, want, redacted(t, tenant, text), "%q", text)
	}
}
