package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// core packages are pure: what they return depends on their arguments alone.
var core = []string{
	"internal/agent", "internal/cjson", "internal/canon", "internal/dialect", "internal/policy", "internal/redact",
	"internal/assemble", "internal/detect",
}

// standardOnly packages depend on the standard library and on the packages of ours named here, and on nothing else,
// at any depth.
var standardOnly = map[string][]string{
	"internal/agent": nil,
	"internal/cjson": nil,
}

// impure are packages of the standard library that bring I/O, environment, randomness or a logger. net/url, net/netip
// and io are none of these.
var impure = []string{
	"crypto/rand", "io/ioutil", "log", "log/slog", "log/syslog", "math/rand", "math/rand/v2", "net", "net/http", "net/rpc",
	"os", "os/exec", "os/signal", "os/user", "syscall",
}

// clock are functions that read the time or wait for it.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func isCore(importPath string) bool {
	row, ok := rowOf(relative(importPath))
	return ok && slices.Contains(core, row)
}

func TestCoreImportsNothingImpure(t *testing.T) {
	for _, pkg := range ourPackages(t) {
		if !isCore(pkg.ImportPath) {
			continue
		}
		for _, imported := range pkg.Imports {
			if slices.Contains(impure, imported) {
				t.Errorf("%s → %s: the core has no I/O, environment, randomness or logger", relative(pkg.ImportPath), imported)
			}
		}
	}
}

func TestTypesDependOnTheStandardLibraryOnly(t *testing.T) {
	all, err := listAll()
	if err != nil {
		t.Fatal(err)
	}
	standard := make(map[string]bool)
	for _, pkg := range all {
		standard[pkg.ImportPath] = pkg.Standard
	}
	for _, pkg := range ourPackages(t) {
		allowed, ok := standardOnly[relative(pkg.ImportPath)]
		if !ok {
			continue
		}
		for _, dep := range pkg.Deps {
			if !standard[dep] && !slices.Contains(allowed, relative(dep)) {
				t.Errorf("%s → … → %s: only the standard library is allowed", relative(pkg.ImportPath), dep)
			}
		}
	}
}

func TestCoreReadsNoClockAndStartsNoGoroutine(t *testing.T) {
	files := 0
	for _, pkg := range ourPackages(t) {
		if !isCore(pkg.ImportPath) {
			continue
		}
		for _, name := range pkg.GoFiles {
			files++
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range impurities(fset, file) {
				t.Errorf("%s/%s", relative(pkg.ImportPath), problem)
			}
		}
	}
	if files == 0 {
		t.Fatal("no file of the core was read")
	}
}

func TestImpuritiesAreFound(t *testing.T) {
	const source = `package p
import "time"
func f() { go f(); _ = time.Now(); _ = time.Unix(0, 0); x := time.Since; _ = x }`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := impurities(fset, file)
	if len(got) != 3 {
		t.Fatalf("got %q, want three problems", got)
	}
	for i, text := range []string{"starts a goroutine", "time.Now", "time.Since"} {
		if !strings.Contains(got[i], text) {
			t.Errorf("problem %d is %q, want %q in it", i, got[i], text)
		}
	}
}

// impurities lists the go statements and the uses of the clock in a file, each with its place.
func impurities(fset *token.FileSet, file *ast.File) []string {
	var problems []string
	add := func(n ast.Node, text string) {
		at := fset.Position(n.Pos())
		problems = append(problems, filepath.Base(at.Filename)+":"+strings.TrimPrefix(at.String(), at.Filename+":")+": "+text)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n, "starts a goroutine")
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, n.Sel.Name) {
				add(n, "time."+n.Sel.Name+": time is an argument here")
			}
		}
		return true
	})
	return problems
}
