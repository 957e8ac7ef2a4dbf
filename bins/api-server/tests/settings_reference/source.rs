//! The declarations of the settings, as their source says them: names, types, documentation and serde's attributes.

use std::{collections::HashMap, fs, path::Path};

use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type};

/// A struct, or an enumeration.
#[derive(Clone, Debug)]
pub enum Declaration {
    Section(Section),
    Choice(Vec<Variant>),
}

/// A struct of settings.
#[derive(Clone, Debug)]
pub struct Section {
    pub meaning: String,
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub meaning: String,
    pub of: Shape,
    /// Whether serde has a value when the field is absent.
    pub has_default: bool,
}

/// A variant of an enumeration.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in Rust, which `Debug` prints.
    pub rust_name: String,
    /// Its name in a settings file.
    pub name: String,
    pub meaning: String,
    pub holds: Option<Shape>,
}

/// The type of a field.
#[derive(Clone, Debug)]
pub enum Shape {
    /// The last part of the type's path.
    Named(String),
    Optional(Box<Shape>),
    List(Box<Shape>),
    /// Under names that the operator chooses.
    ByName(Box<Shape>),
    /// A fixed number of values.
    Several(usize),
}

/// The declarations of these files, by name.
pub fn declarations(files: &[&str]) -> HashMap<String, Declaration> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = HashMap::new();
    for file in files {
        let text = fs::read_to_string(root.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        for (name, declaration) in syn::parse_file(&text).unwrap().items.iter().filter_map(declared) {
            let earlier = found.insert(name.clone(), declaration);
            assert!(earlier.is_none(), "two declarations have the name {name}: read one of the files apart");
        }
    }
    found
}

/// A declaration that serde reads.
fn declared(item: &Item) -> Option<(String, Declaration)> {
    match item {
        Item::Struct(item) if is_read(&item.attrs) => {
            let has_defaults = serde(&item.attrs).contains_key("default");
            let Fields::Named(fields) = &item.fields else { return None };
            let read = fields.named.iter().filter(|field| !serde(&field.attrs).contains_key("skip"));
            let fields = read.map(|field| {
                let name = field.ident.as_ref().unwrap().to_string();
                let of = shape(&field.ty);
                let attributes = serde(&field.attrs);
                let has_default = has_defaults || attributes.contains_key("default");
                let name = attributes.get("rename").cloned().unwrap_or(name);
                Field { name, meaning: documentation(&field.attrs), of, has_default }
            });
            let section = Section { meaning: documentation(&item.attrs), fields: fields.collect() };
            Some((item.ident.to_string(), Declaration::Section(section)))
        }
        Item::Enum(item) if is_read(&item.attrs) => {
            let style = serde(&item.attrs).remove("rename_all").unwrap_or_default();
            let variants = item.variants.iter().map(|variant| {
                let rust_name = variant.ident.to_string();
                let renamed = serde(&variant.attrs).remove("rename");
                let name = renamed.unwrap_or_else(|| in_style(&rust_name, &style));
                let holds = variant.fields.iter().next().map(|field| shape(&field.ty));
                Variant { rust_name, name, meaning: documentation(&variant.attrs), holds }
            });
            Some((item.ident.to_string(), Declaration::Choice(variants.collect())))
        }
        _ => None,
    }
}

fn is_read(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("derive") && list.tokens.to_string().contains("Deserialize")
    })
}

/// The names in `#[serde(…)]`, with their texts, if any.
fn serde(attributes: &[Attribute]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let read = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let text = match meta.value() {
                Ok(value) => value.parse::<syn::LitStr>()?.value(),
                Err(_no_text) => String::new(),
            };
            found.insert(name, text);
            Ok(())
        });
        read.unwrap();
    }
    found
}

fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let Expr::Lit(value) = &pair.value else { return None };
        let Lit::Str(text) = &value.lit else { return None };
        pair.path.is_ident("doc").then(|| text.value().trim().to_owned())
    });
    let lines: Vec<String> = lines.take_while(|line| !line.starts_with("```")).collect();
    lines.join(" ").trim().to_owned()
}

fn shape(of: &Type) -> Shape {
    match of {
        Type::Array(array) => {
            let Expr::Lit(length) = &array.len else { panic!("an array whose length is not written out") };
            let Lit::Int(length) = &length.lit else { panic!("an array whose length is no number") };
            Shape::Several(length.base10_parse().unwrap())
        }
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            let inner = || match &last.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.last().unwrap() {
                    GenericArgument::Type(inner) => Box::new(shape(inner)),
                    _ => panic!("an argument of {} that is no type", last.ident),
                },
                _ => panic!("{} without an argument", last.ident),
            };
            match last.ident.to_string().as_str() {
                "Option" => Shape::Optional(inner()),
                "Vec" => Shape::List(inner()),
                "HashMap" => Shape::ByName(inner()),
                name => Shape::Named(name.to_owned()),
            }
        }
        _ => panic!("a type of settings that this test cannot read"),
    }
}

fn in_style(name: &str, style: &str) -> String {
    match style {
        "lowercase" => name.to_lowercase(),
        "UPPERCASE" => name.to_uppercase(),
        "snake_case" | "SCREAMING_SNAKE_CASE" => {
            let mut words = String::new();
            for (place, letter) in name.char_indices() {
                if letter.is_uppercase() && place > 0 {
                    words.push('_');
                }
                words.extend(letter.to_lowercase());
            }
            if style == "snake_case" { words } else { words.to_uppercase() }
        }
        "" => name.to_owned(),
        other => panic!("serde's style {other} is not known here"),
    }
}
