package redact

import (
	"strings"
	"unicode/utf8"
)

// secretKind tells what a name says of what stands under it.
type secretKind uint8

const (
	noSecret secretKind = iota
	// weakSecret: what people make up: short, and of any bytes.
	weakSecret
	// strongSecret: what programs make: long.
	strongSecret
	// harmless names end like those of secrets.
	harmless
)

// weakNames are names of passwords. An entry with * is the end of a name.
const weakNames = "password *password passwd *passwd pwd *_pwd pass *_pass passphrase *_passphrase passcode pw *_pw userpass dbpass passe password_new password_old password_confirm password_confirmation passwordconfirm password1 password2 passwort *passwort " +
	"kennwort *kennwort contraseña contrasena senha mot_de_passe mdp wachtwoord hasło lösenord parola sifre şifre " +
	"пароль Пароль *пароль пароля 密码 *密码 密碼 *密碼 パスワード *パスワード 비밀번호 *비밀번호"

// strongNames are names of keys and tokens.
const strongNames = "*secret *secret_key *secretkey api_key *_api_key *apikey token *_token authtoken accesstoken refreshtoken bearertoken apitoken bottoken " +
	"access_key *_access_key *accesskey private_key *_private_key *privatekey auth_key *_auth_key authkey account_key *_account_key accountkey storage_key " +
	"*_storage_key shared_key *_shared_key encryption_key *_encryption_key decryption_key signing_key *_signing_key master_key *_master_key service_key " +
	"*_service_key subscription_key *_subscription_key credential credentials *_credential *_credentials authorization *_authorization session_key *_pat " +
	"license_key app_key *_app_key application_key consumer_key hmac_key *_hmac_key aes_key admin_key *_admin_key functions_key host_key write_key *_write_key " +
	"server_key *_server_key *secret_value *secret_access auth *_auth *key_base salt *_salt pepper x_functions_key webhook_key deploy_key bot_key"

// harmlessNames are names of what is no secret.
const harmlessNames = "*page_token *pagetoken *next_token *nexttoken *continuation_token *continuationtoken *sync_token *cursor_token *resume_token " +
	"*idempotency_token *request_token *change_token starting_token *dedup_token *image_token *eos_token *bos_token *oauth *public_key *public_key_token *publickeytoken"

// namesByEnd holds the names by their last three bytes.
var namesByEnd = func() (table [1 << 12][]nameEntry) {
	for kind, names := range map[secretKind]string{weakSecret: weakNames, strongSecret: strongNames, harmless: harmlessNames} {
		for name := range strings.FieldsSeq(names) {
			e := nameEntry{name: strings.TrimPrefix(name, "*"), end: name[0] == '*', kind: kind}
			n := endHash(e.name)
			table[n] = append(table[n], e)
		}
	}
	return table
}()

// endsName holds the last bytes of those names.
var endsName = func() (table [256]bool) {
	for name := range strings.FieldsSeq(weakNames + " " + strongNames + " " + harmlessNames) {
		table[name[len(name)-1]|0x20] = true
	}
	return table
}()

type nameEntry struct {
	name string
	end  bool // of a longer name
	kind secretKind
}

// endHash is a hash of the last bytes of a name.
func endHash(name string) uint {
	n := len(name)
	h := uint(name[n-1]|0x20) | uint(name[n-2]|0x20)<<4
	if n > 2 && name[n-3] != '_' {
		h ^= uint(name[n-3]|0x20) << 7
	}
	return h & (1<<12 - 1)
}

// kindOf returns the kind of a name, in any case, with - or blanks for _, or with
// capitals for new words; of a name with dots or slashes the last part counts.
func kindOf(name string) secretKind {
	if len(name) < 2 || len(name) > maxName {
		return noSecret
	}
	kind := noSecret
	for _, e := range namesByEnd[endHash(name)] {
		if e.matches(name) {
			kind = max(kind, e.kind)
			if e.kind == weakSecret {
				return weakSecret
			}
		}
	}
	if kind == harmless {
		return noSecret
	}
	return kind
}

// maxName is the longest name that is looked at.
const maxName = 128

// canNameSecret reports whether a name can end in these bytes.
func canNameSecret(name string) bool {
	return len(name) >= 2 && len(namesByEnd[endHash(name)]) > 0
}

// matches compares from the end.
func (e *nameEntry) matches(name string) bool {
	i := len(name) - 1
	for j := len(e.name) - 1; j >= 0; j-- {
		c := e.name[j]
		if c == '_' {
			switch {
			case i >= 0 && (name[i] == '_' || name[i] == '-' || name[i] == ' ' || name[i] == '.'):
				i--
			case i >= 0 && i+1 < len(name) && name[i+1]-'A' < 26 && (name[i]-'a' < 26 || isASCIIDigit(name[i])):
			default:
				return false
			}
			continue
		}
		if i < 0 || foldLetter(name[i]) != c {
			return false
		}
		i--
	}
	return e.end || i < 0 || name[i] == '.' || name[i] == '/' || name[i] == ':' || name[i] == '@' || name[i] >= utf8.RuneSelf
}

func foldLetter(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}
