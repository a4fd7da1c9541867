package brontosig_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// public lists the packages that other programs import.
var public = []string{"bridge", "brontide", "brontide/wsconn", "lnpeer", "musig2"}

// A link in a comment that names nothing is shown as it was written.
var brokenLink = regexp.MustCompile(`\[\*?[A-Z]\w*(\.\w+)?\]`)

// reference reads the documentation of a package of this module.
func reference(t *testing.T, dir string) (*token.FileSet, *doc.Package) {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/brontosig/brontosig/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	return fset, p
}

// TestComments holds that everything exported says what it is, and that the
// links in comments lead somewhere.
func TestComments(t *testing.T) {
	for _, dir := range public {
		t.Run(dir, func(t *testing.T) {
			fset, p := reference(t, dir)
			check := func(name, text string) {
				t.Helper()
				if strings.TrimSpace(text) == "" {
					t.Errorf("%s has no comment", name)
				}
				checkLinks(t, p, name, text)
			}
			check("package "+p.Name, p.Doc)
			values := func(groups []*doc.Value) {
				for _, group := range groups {
					checkLinks(t, p, strings.Join(group.Names, ", "), group.Doc)
					for _, spec := range group.Decl.Specs {
						spec := spec.(*ast.ValueSpec)
						// One comment may serve a group of values.
						check(spec.Names[0].Name, group.Doc+spec.Doc.Text()+spec.Comment.Text())
					}
				}
			}
			funcs := func(of string, funcs []*doc.Func) {
				for _, f := range funcs {
					check(of+f.Name, f.Doc)
				}
			}
			values(p.Consts)
			values(p.Vars)
			funcs("", p.Funcs)
			for _, typ := range p.Types {
				check(typ.Name, typ.Doc)
				values(typ.Consts)
				values(typ.Vars)
				funcs("", typ.Funcs)
				funcs(typ.Name+".", typ.Methods)
				for _, spec := range typ.Decl.Specs {
					checkFields(fset, spec.(*ast.TypeSpec), check)
				}
			}
		})
	}
}

// checkFields goes through the exported fields of a struct and the methods of
// an interface. One comment may serve the fields up to the next empty line.
func checkFields(fset *token.FileSet, spec *ast.TypeSpec, check func(name, text string)) {
	var fields *ast.FieldList
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return
	}
	last, text := 0, ""
	for _, field := range fields.List {
		line := fset.Position(field.Pos()).Line
		if own := field.Doc.Text() + field.Comment.Text(); own != "" || line != last+1 {
			text = own
		}
		last = fset.Position(field.End()).Line
		for _, name := range field.Names {
			if name.IsExported() {
				check(spec.Name.Name+"."+name.Name, text)
			}
		}
	}
}

// checkLinks fails for links that the documentation tools cannot resolve.
func checkLinks(t *testing.T, p *doc.Package, name, text string) {
	t.Helper()
	d := p.Parser().Parse(text)
	for _, block := range d.Content {
		var plain []comment.Text
		switch block := block.(type) {
		case *comment.Paragraph:
			plain = block.Text
		case *comment.List:
			for _, item := range block.Items {
				for _, part := range item.Content {
					if paragraph, ok := part.(*comment.Paragraph); ok {
						plain = append(plain, paragraph.Text...)
					}
				}
			}
		}
		for _, part := range plain {
			if part, ok := part.(comment.Plain); ok {
				for _, link := range brokenLink.FindAllString(string(part), -1) {
					t.Errorf("the comment of %s has a link to %s, which is not there", name, link)
				}
			}
		}
	}
}
