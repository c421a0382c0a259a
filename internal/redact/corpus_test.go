package redact

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var report = flag.Bool("report", false, "print recall and precision on the corpus, per detector, and what went wrong")

// sample is a text of the corpus: with secrets that must be gone, or without, and
// then it must stay as it is.
type sample struct {
	detector string
	text     string
	secrets  []string
}

// TestCorpus measures recall and false positives on the labelled corpus in
// testdata/corpus, and holds them to what is promised.
func TestCorpus(t *testing.T) {
	positives, negatives := positives(t), negatives(t)
	require.GreaterOrEqual(t, len(positives), 400)
	require.GreaterOrEqual(t, len(negatives), 600)
	tenant := newTenant(t, func(c *Config) { c.Keys, c.Rules = nil, nil })
	type score struct{ all, gone, wrong int }
	scores := map[string]*score{}
	for _, name := range DetectorNames() {
		scores[name] = &score{}
	}
	for _, s := range positives {
		scores[s.detector].all++
		got, err := tenant.Text(s.text)
		require.NoError(t, err)
		if left := s.left(got.Stored); left != "" {
			complain(t, "%s left %q in %q\n  of %q", s.detector, left, got.Stored, s.text)
			continue
		}
		scores[s.detector].gone++
	}
	wrong := 0
	for _, s := range negatives {
		got, err := tenant.Text(s.text)
		require.NoError(t, err)
		if got.Stored == s.text {
			continue
		}
		wrong++
		complain(t, "%v in %q\n  which has no secret: %q", got.Found, s.text, got.Stored)
		for _, f := range got.Found {
			scores[f.Detector].wrong++
		}
	}
	lines := []string{fmt.Sprintf("%-16s %9s %7s %7s %9s %9s", "detector", "positives", "found", "recall", "negatives", "precision")}
	for _, name := range DetectorNames() {
		s := scores[name]
		recall := share(s.gone, s.all)
		lines = append(lines, fmt.Sprintf("%-16s %9d %7d %6.2f%% %9d %8.2f%%", name, s.all, s.gone, recall, s.wrong, share(s.gone, s.gone+s.wrong)))
		least := 99.0 // of forms that are certain
		if name == "phone" || name == "api_key" || name == "bearer" || name == "url_credentials" {
			least = 97
		}
		assert.GreaterOrEqual(t, recall, least, "recall of %s", name)
		assert.GreaterOrEqual(t, s.all, 20, "positives of %s", name)
	}
	lines = append(lines, fmt.Sprintf("%d positives, %d negatives of which %d changed (%.2f%%)", len(positives), len(negatives), wrong, share(wrong, len(negatives))))
	if *report {
		fmt.Println(strings.Join(lines, "\n"))
	}
	require.LessOrEqual(t, share(wrong, len(negatives)), 0.1, "false positives")
}

func complain(t *testing.T, format string, args ...any) {
	t.Helper()
	if *report || testing.Verbose() {
		fmt.Printf(format+"\n", args...)
	}
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// left returns a part of a secret that an output still holds, in any spelling.
func (s *sample) left(output string) string {
	output = pseudonyms.ReplaceAllString(output, "|")
	undone := undoAll(output)
	digits := string(appendDigits(nil, undone))
	for _, secret := range s.secrets {
		plain := undoAll(secret)
		parts := []string{plain}
		if half := len(plain) / 2; half >= 10 {
			parts = append(parts, plain[:half], plain[half:])
		}
		for _, part := range parts {
			if strings.Contains(undone, part) {
				return part
			}
		}
		if d := string(appendDigits(nil, plain)); len(d) >= 9 && strings.Contains(digits, d) {
			return d
		}
	}
	return ""
}

// undoAll undoes all spellings of a text.
func undoAll(s string) string {
	var v view
	for range maxRounds + 1 {
		v.undo(s)
		if string(v.text) == s {
			break
		}
		s = string(v.text)
	}
	return s
}

func TestNothingIsAllocatedForANegative(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget at random under the race detector")
	}
	tenant := newTenant(t, nil)
	for _, s := range negatives(t) {
		if got, _ := tenant.Text(s.text); got.Count > 0 {
			continue // it has a name of the key list
		}
		if n := testing.AllocsPerRun(5, func() { _, _ = tenant.Text(s.text) }); n > 0 {
			t.Errorf("%v allocations for %q", n, s.text)
		}
	}
}

// positives are the texts that hold secrets: those written out, and each value in
// some carriers.
func positives(tb testing.TB) []sample {
	tb.Helper()
	var list []sample
	for _, line := range corpusLines(tb, "positives.txt") {
		detector, text, _ := strings.Cut(line, "\t")
		s := sample{detector: detector}
		for {
			before, rest, ok := strings.Cut(text, "⟦")
			s.text += before
			if !ok {
				break
			}
			secret, after, _ := strings.Cut(rest, "⟧")
			s.text, text = s.text+secret, after
			s.secrets = append(s.secrets, secret)
		}
		list = append(list, s)
	}
	for _, line := range corpusLines(tb, "keys.jsonl") {
		var s struct {
			Detector, Text string
			Secrets        []string
		}
		require.NoError(tb, json.Unmarshal([]byte(line), &s))
		list = append(list, sample{s.Detector, s.Text, s.Secrets})
	}
	const perValue = 7
	carriers := corpusLines(tb, "carriers.txt")
	for n, line := range corpusLines(tb, "values.txt") {
		detector, value, _ := strings.Cut(line, "\t")
		secret := value
		if detector == "bearer" {
			secret = value[strings.LastIndexByte(value, ' ')+1:]
		}
		for k := range perValue {
			carrier := carriers[(n*perValue+k)%len(carriers)]
			list = append(list, sample{detector, carry(carrier, value), []string{secret}})
		}
	}
	return list
}

// negatives are the texts without a secret: those written out, and each of the
// short ones in a carrier.
func negatives(tb testing.TB) []sample {
	tb.Helper()
	var list []sample
	carriers := corpusLines(tb, "carriers.txt")
	for n, line := range corpusLines(tb, "negatives.txt") {
		list = append(list, sample{text: line})
		if len(line) < 40 && !strings.ContainsAny(line, "\"\\\n'%&{}[]<|`") {
			list = append(list, sample{text: carry(carriers[n%len(carriers)], line)})
		}
	}
	return list
}

// carry puts a value into a carrier, in the carrier's spelling.
func carry(carrier, value string) string {
	parts := strings.SplitN(carrier, "\t", 3)
	inJSON := func(s string) string {
		quoted, _ := json.Marshal(s) // a string never fails
		return string(quoted[1 : len(quoted)-1])
	}
	switch parts[1] {
	case "json":
		value = inJSON(value)
	case "json2":
		value = inJSON(inJSON(value))
	case "percent":
		value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	case "entity":
		value = respell(value, func(r rune) string { return fmt.Sprintf("&#%d;", r) })
	case "uescape":
		value = respell(value, func(r rune) string {
			text := ""
			for _, unit := range utf16.Encode([]rune{r}) {
				text += fmt.Sprintf(`\u%04x`, unit)
			}
			return text
		})
	case "nowidth":
		runes := []rune(value)
		value = string(runes[:len(runes)/2]) + "\u200b" + string(runes[len(runes)/2:])
	}
	return strings.Replace(parts[2], "{}", value, 1)
}

// respell spells what is no letter and no digit of ASCII.
func respell(s string, spell func(rune) string) string {
	var out strings.Builder
	for _, r := range s {
		if r < 0x80 && asciiAlnum(byte(r)) {
			out.WriteRune(r)
		} else {
			out.WriteString(spell(r))
		}
	}
	return out.String()
}

// corpusLines reads a file of the corpus: comments left out, marks undone.
func corpusLines(tb testing.TB, name string) []string {
	tb.Helper()
	file, err := os.Open(filepath.Join("testdata", "corpus", name))
	require.NoError(tb, err)
	defer file.Close()
	var lines []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for n := 0; scanner.Scan(); n++ {
		if line := scanner.Text(); n > 0 || !strings.HasPrefix(line, "# ") {
			lines = append(lines, strings.NewReplacer("‖", "", "⏎", "\n").Replace(line))
		}
	}
	require.NoError(tb, scanner.Err())
	return lines
}
