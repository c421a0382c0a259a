package redact

import "strings"

// apiKey finds keys and tokens whose vendor gave them a form: a prefix (see
// vendors), or a mark inside. What has no form is found by the name it stands
// under: see secretValue.
var apiKey = detector{name: "api_key", label: "API_KEY", pairs: vendorPairs(), match: matchAPIKey}

func matchAPIKey(in *input, floor, i int) (start, end int) {
	text := in.text
	switch text[i] {
	case '~':
		return matchAzureSecret(text, floor, i)
	case '/':
		return matchWebhook(text, floor, i)
	}
	list := vendorsAt[pairHash(text[i-1], text[i])]
	for n := range list {
		v := &list[n]
		start = i - v.anchor
		if start < floor || !strings.HasPrefix(text[start:], v.prefix) {
			continue
		}
		if before := byteAt(text, start-1); asciiAlnum(before) && (before != 'n' || byteAt(text, start-2) != '\\') {
			continue
		}
		end = in.end(v.alphabet, start+len(v.prefix))
		for end > start+len(v.prefix) && (text[end-1] == '-' || text[end-1] == '.') {
			end--
		}
		if v.matches(text, start, end) {
			return start, end
		}
	}
	return 0, 0
}

// matches reports whether the text between two indexes is a vendor's key, also one
// whose end was cut off.
func (v *vendor) matches(text string, start, end int) bool {
	body := text[start+len(v.prefix) : end]
	switch {
	case v.exact > 0 && len(body) != v.exact:
		return isCut(text, end) && len(body) >= minCut && len(body) < v.exact && (len(v.prefix) > 3 || len(body) >= v.exact/2) && v.made(body)
	case len(body) < v.least:
		return isCut(text, end) && len(body) >= minCut && (len(v.prefix) > 3 || len(body) >= minCutShort) && v.made(body)
	}
	return v.made(body)
}

// minCut is how much must be left behind a prefix of a key that was cut off.
const minCut = 4

// minCutShort is the same behind a prefix of up to 3 bytes.
const minCutShort = 14

// maxBody is how much of a key's body is looked at: prefixes can stand close.
const maxBody = 64

// made reports whether the body of a key is made up: no words, no placeholder.
func (v *vendor) made(body string) bool {
	body = body[:min(len(body), maxBody)]
	if v.hex {
		for i := range len(body) {
			if !isHex(body[i]) || body[i]-'A' < 26 {
				return false
			}
		}
		return true
	}
	if v.capitals {
		for i := range len(body) {
			if body[i]-'a' < 26 {
				return false
			}
		}
		return true
	}
	t := traitsOf(body)
	switch {
	case len(body) < 12:
		return t.digits+t.upper > 0
	case t.digits == 0 && (t.upper == 0 || t.lower == 0) || t.entropy <= 2:
		return false
	}
	// A short prefix begins words, too.
	return len(v.prefix) > 3 || t.random() || t.turns >= 2 || t.symbols == 0 && (len(body) >= 32 || t.humps >= max(3, len(body)/6))
}

// matchAzureSecret finds a client secret of Azure at its tilde: 3 characters, a
// digit, Q~ and 31 to 34 more.
func matchAzureSecret(text string, floor, i int) (start, end int) {
	start = i - 5
	if start < floor || text[i-1] != 'Q' || !isASCIIDigit(text[i-2]) || credentialByte[byteAt(text, start-1)] && byteAt(text, start-1) != '=' {
		return 0, 0
	}
	end = i + 1
	for end < len(text) && end-i < 64 && (asciiAlnum(text[end]) || strings.IndexByte("-._~", text[end]) >= 0) {
		end++
	}
	for text[end-1] == '.' {
		end--
	}
	if n := end - i - 1; n < 28 && (n < 8 || !isCut(text, end)) || n > 40 {
		return 0, 0
	}
	return start, end
}

// webhooks are hosts and paths whose rest is a secret.
var webhooks = []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}

// matchWebhook finds the secret part of a web hook at the slash behind its host.
func matchWebhook(text string, floor, i int) (start, end int) {
	for _, hook := range webhooks {
		host := strings.IndexByte(hook, '/')
		if i < host || !strings.HasPrefix(text[i-host:], hook) {
			continue
		}
		start = i - host + len(hook)
		end = start
		for end < len(text) && (base64URLBytes[text[end]] || text[end] == '/') {
			end++
		}
		if start < floor || end-start < 8 {
			return 0, 0
		}
		return start, end
	}
	return 0, 0
}

// telegram finds tokens of Telegram bots: the bot's number, a colon and 35
// characters.
var telegram = detector{name: "api_key", label: "API_KEY", number: matchTelegram}

func matchTelegram(in *input, n *number, g, floor int) (start, end int) {
	text := in.text
	start = n.groups[g].start
	colon := n.groups[g].end
	if size := n.size(g); size < 8 || size > 11 || byteAt(text, colon) != ':' || start < floor {
		return 0, 0
	}
	if before := byteAt(text, start-1); (asciiAlnum(before) || before == '_') && !endsFold(text[:start], "bot") {
		return 0, 0
	}
	end = base64URLBytes.end(text, colon+1)
	switch size := end - colon - 1; {
	case size == 35, size >= 12 && size < 35 && isCut(text, end):
		return start, end
	}
	return 0, 0
}
