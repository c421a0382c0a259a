package redact

import "slices"

// A vendor is a form of keys: a prefix and what may follow it.
type vendor struct {
	prefix string
	// anchor is the place in the prefix of the byte it is looked for at, with the
	// byte before it.
	anchor   int
	alphabet *alphabet
	// exact is how many bytes follow the prefix, least how many at least.
	exact, least  int
	hex, capitals bool
}

// Alphabets and lengths that several vendors share.
func keyOf(prefix string, anchor int, a *alphabet, least int) vendor {
	return vendor{prefix: prefix, anchor: anchor, alphabet: a, least: least}
}

func hexKey(prefix string, anchor, exact int) vendor {
	return vendor{prefix: prefix, anchor: anchor, alphabet: alnumBytes, exact: exact, hex: true}
}

func capitalKey(prefix string, exact int) vendor {
	return vendor{prefix: prefix, anchor: 1, alphabet: alnumBytes, exact: exact, capitals: true}
}

// vendors lists the forms. Where one prefix begins another the longer goes first.
func vendors() []vendor {
	url, word, alnum := base64URLBytes, wordBytes, alnumBytes
	return []vendor{
		// Amazon: ids of keys, of temporary keys, of users; Bedrock.
		capitalKey("AKIA", 16), capitalKey("ASIA", 16), capitalKey("ABIA", 16), capitalKey("ACCA", 16), capitalKey("AROA", 17), capitalKey("AIDA", 17),
		keyOf("ABSK", 3, newAlphabet("+/="), 40),
		// Google: API keys, OAuth secrets, access and refresh tokens.
		keyOf("AIza", 2, url, 30), keyOf("GOCSPX-", 6, url, 20), keyOf("ya29.", 4, newAlphabet("-_."), 20), keyOf("1//0", 2, url, 30),
		// GitHub.
		keyOf("ghp_", 3, alnum, 20), keyOf("gho_", 3, alnum, 20), keyOf("ghu_", 3, alnum, 20), keyOf("ghs_", 3, newAlphabet("_.-"), 20), keyOf("ghr_", 3, alnum, 20),
		keyOf("github_pat_", 6, word, 22),
		// GitLab.
		keyOf("glpat-", 5, newAlphabet("-_."), 16), keyOf("gldt-", 4, url, 16), keyOf("glrt-", 4, newAlphabet("-_."), 16), keyOf("glrtr-", 5, url, 16),
		keyOf("glcbt-", 5, url, 16), keyOf("glptt-", 5, url, 16), keyOf("glft-", 4, url, 16), keyOf("glimt-", 5, url, 16), keyOf("glagent-", 7, url, 16),
		keyOf("gloas-", 5, url, 16), keyOf("glsoat-", 6, url, 16), keyOf("glffct-", 6, url, 16), keyOf("GR1348941", 1, url, 16),
		// Slack.
		keyOf("xoxb-", 4, url, 16), keyOf("xoxp-", 4, url, 16), keyOf("xoxa-", 4, url, 16), keyOf("xoxr-", 4, url, 16), keyOf("xoxs-", 4, url, 16),
		keyOf("xoxo-", 4, url, 16), keyOf("xoxc-", 4, url, 16), keyOf("xoxd-", 4, newAlphabet("-_%+/="), 16), keyOf("xoxe-", 4, url, 16),
		keyOf("xoxe.", 4, newAlphabet("-_."), 16), keyOf("xapp-", 4, url, 16),
		// Stripe.
		keyOf("sk_live_", 2, alnum, 14), keyOf("sk_test_", 2, alnum, 14), keyOf("rk_live_", 2, alnum, 14), keyOf("rk_test_", 2, alnum, 14),
		keyOf("pk_live_", 2, alnum, 14), keyOf("pk_test_", 2, alnum, 14), keyOf("whsec_", 5, newAlphabet("+/="), 16),
		// Model vendors.
		keyOf("sk-ant-", 2, url, 16), keyOf("sk-proj-", 2, url, 16), keyOf("sk-svcacct-", 2, url, 16), keyOf("sk-admin-", 2, url, 16), keyOf("sk-or-v1-", 2, url, 16),
		keyOf("sk-", 2, url, 20), keyOf("hf_", 2, alnum, 28), keyOf("api_org_", 3, alnum, 28), keyOf("gsk_", 3, alnum, 30), keyOf("xai-", 3, alnum, 40),
		keyOf("r8_", 2, alnum, 30), keyOf("pplx-", 4, alnum, 30), keyOf("lsv2_", 4, word, 30), keyOf("pcsk_", 4, word, 30), keyOf("tvly-", 4, url, 20),
		keyOf("fw_", 2, alnum, 20), keyOf("nvapi-", 5, url, 30), keyOf("AQ.A", 3, url, 30), keyOf("csk-", 3, alnum, 30),
		// Package registries.
		keyOf("npm_", 3, alnum, 30), keyOf("pypi-", 4, url, 40), keyOf("rubygems_", 8, alnum, 40), keyOf("dckr_pat_", 3, url, 20),
		// Mail, messages, telephone.
		keyOf("SG.", 2, newAlphabet("-_."), 40), hexKey("SK", 1, 32), hexKey("AC", 1, 32), keyOf("xkeysib-", 7, url, 40), hexKey("key-", 3, 32), keyOf("re_", 2, word, 24),
		// Others.
		keyOf("dop_v1_", 6, alnum, 40), keyOf("doo_v1_", 6, alnum, 40), keyOf("dor_v1_", 6, alnum, 40), keyOf("shpat_", 2, alnum, 30), keyOf("shpss_", 5, alnum, 30),
		keyOf("shpca_", 5, alnum, 30), keyOf("shppa_", 5, alnum, 30), keyOf("sq0atp-", 6, url, 20), keyOf("sq0csp-", 6, url, 30), keyOf("EAAA", 3, url, 50),
		keyOf("dapi", 3, newAlphabet("-"), 32), keyOf("lin_api_", 7, alnum, 30), keyOf("ntn_", 2, alnum, 40), keyOf("secret_", 6, alnum, 40),
		keyOf("PMAK-", 4, newAlphabet("-"), 40), keyOf("glsa_", 4, word, 30), keyOf("glc_", 3, newAlphabet("+/="), 30), keyOf("hvs.", 1, url, 20), keyOf("hvb.", 1, url, 20),
		keyOf("ATATT3x", 4, newAlphabet("-_="), 40), keyOf("ATCTT3x", 4, newAlphabet("-_="), 40), keyOf("NRAK-", 4, alnum, 20), keyOf("sntrys_", 6, newAlphabet("+/=_"), 40),
		keyOf("sntryu_", 6, alnum, 40), keyOf("sbp_", 3, alnum, 40), keyOf("pscale_", 6, newAlphabet("-_."), 30), keyOf("dp.pt.", 3, alnum, 30), keyOf("phc_", 3, alnum, 30), keyOf("phx_", 3, alnum, 30),
		keyOf("figd_", 3, url, 30), keyOf("HRKU-", 4, newAlphabet("-_"), 30), keyOf("LTAI", 3, alnum, 16), keyOf("AKID", 2, alnum, 32),
		keyOf("AGE-SECRET-KEY-1", 3, alnum, 40), keyOf("tskey-", 5, url, 16), keyOf("CLOJARS_", 7, alnum, 40), keyOf("ops_", 3, url, 60), keyOf("bkua_", 4, alnum, 30),
		keyOf("pat-na1-", 3, newAlphabet("-"), 30), keyOf("pat-eu1-", 3, newAlphabet("-"), 30),
	}
}

// vendorsAt holds the forms by the pair of bytes they are looked for at.
var vendorsAt = func() (at [1 << 10][]vendor) {
	for _, v := range vendors() {
		n := pairHash(v.prefix[v.anchor-1], v.prefix[v.anchor])
		at[n] = append(at[n], v)
	}
	return at
}()

func pairHash(a, b byte) uint { return (uint(a)<<3 ^ uint(b)) & (1<<10 - 1) }

// vendorPairs returns the pairs at which there may be a key.
func vendorPairs() []string {
	pairs := []string{"Q~", "m/"} // Azure, web hooks
	for _, v := range vendors() {
		if pair := v.prefix[v.anchor-1 : v.anchor+1]; !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
