package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// code is an error code: its name in JavaScript and its documentation.
type code struct {
	name, doc string
}

// readCodes reads the constants of type Code in the order of their values,
// which count up from 1.
func readCodes(file string) ([]code, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var codes []code
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			name := spec.(*ast.ValueSpec).Names[0].Name
			doc := spec.(*ast.ValueSpec).Doc.Text()
			if !strings.HasPrefix(doc, name+" means that ") {
				return nil, fmt.Errorf("%s: the comment of %s must start with %q", file, name, name+" means that ")
			}
			codes = append(codes, code{upperSnake(name), "Means" + strings.TrimPrefix(doc, name+" means")})
		}
	}
	return codes, nil
}

// upperSnake turns FooBar into FOO_BAR.
func upperSnake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToUpper(r))
	}
	return out.String()
}

// export is a wasm export.
type export struct {
	name, doc string
	params    []string
	result    bool
}

// readExports reads the functions of the package in dir that carry the directive
// wasmexport, in the order of files and lines.
func readExports(dir string) ([]export, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var exports []export
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			name, ok := exportName(f.Doc)
			if !ok {
				continue
			}
			e, err := readExport(name, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if entry.Name() != "buffers.go" && (len(e.params) == 0 || e.params[0] != "n") {
				return nil, fmt.Errorf("%s: the first parameter of %s must be n", file, name)
			}
			exports = append(exports, e)
		}
	}
	return exports, nil
}

// exportName returns the name in the go:wasmexport directive of a comment.
func exportName(doc *ast.CommentGroup) (string, bool) {
	for _, line := range doc.List {
		if name, ok := strings.CutPrefix(line.Text, "//go:wasmexport "); ok {
			return strings.TrimSpace(name), true
		}
	}
	return "", false
}

func readExport(name string, f *ast.FuncDecl) (export, error) {
	doc := strings.TrimPrefix(f.Doc.Text(), f.Name.Name+" ")
	if doc == f.Doc.Text() {
		return export{}, fmt.Errorf("the comment of %s must start with its name", f.Name.Name)
	}
	e := export{name: name, doc: strings.ToUpper(doc[:1]) + doc[1:]}
	for _, field := range f.Type.Params.List {
		if !isNumber(field.Type) {
			return export{}, fmt.Errorf("%s: a parameter is neither int32 nor uint32", name)
		}
		for _, param := range field.Names {
			e.params = append(e.params, param.Name)
		}
	}
	if f.Type.Results == nil {
		return e, nil
	}
	if f.Type.Results.NumFields() != 1 || !isNumber(f.Type.Results.List[0].Type) {
		return export{}, fmt.Errorf("%s: the result is neither int32 nor uint32", name)
	}
	e.result = true
	return e, nil
}

// isNumber reports whether a value of the type reaches JavaScript as a number
// and not as a BigInt.
func isNumber(expr ast.Expr) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && (ident.Name == "int32" || ident.Name == "uint32")
}
