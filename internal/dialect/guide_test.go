package dialect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block of code in the guide stands under the name of the file that it is
// from.
var guideBlock = regexp.MustCompile("(?m)^`([a-z/_.]+)`\\n\\n```(?:go)?\\n((?s:.*?)\\n)```$")

func TestTheGuideShowsTheCodeAsItIs(t *testing.T) {
	root := filepath.Join("..", "..")
	guide, err := os.ReadFile(filepath.Join(root, "docs", "adding-a-dialect.md"))
	require.NoError(t, err)
	blocks := guideBlock.FindAllStringSubmatch(string(guide), -1)
	require.Len(t, blocks, 5, "look, detect, the file, its registration, its golden file")
	for _, b := range blocks {
		file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b[1])))
		require.NoError(t, err)
		require.Contains(t, string(file), b[2], "docs/adding-a-dialect.md shows %s", b[1])
	}
}
