//! The fields of a record signal, which is a plain vector in Verilog.

use std::rc::Rc;

use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};

use crate::annotation;

/// Longest line of a field map, in characters.
const LINE: usize = 110;

/// The fields of a `LogicStruct`. The first field starts at bit 0.
#[derive(Debug)]
pub(crate) struct Record {
    pub width: usize,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    low: usize,
    width: usize,
    record: Option<Rc<Record>>,
}

impl Record {
    /// Returns the record that `descriptor` describes. Returns `None` for plain bits and enumerations.
    pub(crate) fn of(descriptor: &TypeDescriptor) -> Option<Rc<Self>> {
        let TypeKind::Composite(described) = &descriptor.kind else {
            return None;
        };
        let mut width = 0;
        let mut fields = vec![];
        for field in described {
            let record = Self::of(&field.kind);
            let bits = match (&field.kind.kind, &record) {
                (_, Some(record)) => record.width,
                (TypeKind::Bits(bits) | TypeKind::Signed(bits), _) => *bits,
                (TypeKind::Enum(variants), _) => rust_hdl::prelude::clog2(variants.len()),
                (TypeKind::Composite(_), None) => unreachable!("a composite is a record"),
            };
            fields.push(Field {
                name: field.fieldname.clone(),
                low: width,
                width: bits,
                record,
            });
            width += bits;
        }
        Some(Rc::new(Self { width, fields }))
    }

    /// Names the `width` bits from bit `low` on. They may be a field, a field of a field, or bits of a field. Returns `None` if they belong to
    /// several fields.
    pub(crate) fn name_of(&self, low: usize, width: usize) -> Option<String> {
        let field = self.field_around(low, width)?;
        let inner = low - field.low;
        if field.width == width {
            return Some(field.name.clone());
        }
        match &field.record {
            Some(record) => Some(format!("{}.{}", field.name, record.name_of(inner, width)?)),
            None if width == 1 => Some(format!("{}[{inner}]", field.name)),
            None => Some(format!("{}[{}:{inner}]", field.name, inner + width - 1)),
        }
    }

    /// If the `width` bits from bit `low` on are a field that is itself a record, returns that record.
    pub(crate) fn part(&self, low: usize, width: usize) -> Option<Rc<Self>> {
        let field = self.field_around(low, width)?;
        let record = field.record.as_ref()?;
        if field.width == width {
            return Some(record.clone());
        }
        record.part(low - field.low, width)
    }

    fn field_around(&self, low: usize, width: usize) -> Option<&Field> {
        self.fields
            .iter()
            .find(|f| f.low <= low && low + width <= f.low + f.width && width > 0)
    }

    /// Returns lines with the position of each field. Fields of a nested record are listed one by one.
    pub(crate) fn map(&self) -> Vec<String> {
        let mut places = vec![];
        self.places("", 0, &mut places);
        let mut lines: Vec<String> = vec![];
        for place in places {
            match lines.last_mut() {
                Some(line) if line.len() + 2 + place.len() <= LINE => {
                    *line += ", ";
                    *line += &place;
                }
                _ => lines.push(place),
            }
        }
        lines
    }

    fn places(&self, prefix: &str, base: usize, out: &mut Vec<String>) {
        for field in &self.fields {
            let name = format!("{prefix}{}", field.name);
            let low = base + field.low;
            match &field.record {
                Some(record) => record.places(&format!("{name}."), low, out),
                None if field.width == 1 => out.push(format!("{name} [{low}]")),
                None => out.push(format!("{name} [{}:{low}]", low + field.width - 1)),
            }
        }
    }
}

/// Prints a select from the signal `name`, with the field's name as a comment.
pub(crate) fn part(name: &str, low: usize, width: usize, record: Option<&Record>) -> String {
    let bits = if width == 1 {
        format!("{name}[{low}]")
    } else {
        format!("{name}[{}:{low}]", low + width - 1)
    };
    match record.and_then(|r| r.name_of(low, width)) {
        Some(field) => bits + &annotation::beside(&field),
        None => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::core::type_descriptor::TypeField;

    fn bits(width: usize) -> TypeDescriptor {
        TypeDescriptor {
            name: "bits".into(),
            kind: TypeKind::Bits(width),
        }
    }

    fn composite(fields: &[(&str, TypeDescriptor)]) -> TypeDescriptor {
        let fields = fields.iter().map(|(name, kind)| {
            Box::new(TypeField {
                fieldname: (*name).into(),
                kind: kind.clone(),
            })
        });
        TypeDescriptor {
            name: "record".into(),
            kind: TypeKind::Composite(fields.collect()),
        }
    }

    #[test]
    fn bits_of_a_record_have_the_names_of_its_fields() {
        let inner = composite(&[("psn", bits(24)), ("last", bits(1))]);
        let record = Record::of(&composite(&[("key", bits(8)), ("bth", inner)])).unwrap();
        assert_eq!(record.width, 33);
        assert_eq!(record.name_of(0, 8).unwrap(), "key");
        assert_eq!(record.name_of(2, 3).unwrap(), "key[4:2]");
        assert_eq!(record.name_of(32, 1).unwrap(), "bth.last");
        assert_eq!(record.name_of(8, 25).unwrap(), "bth");
        assert_eq!(record.part(8, 25).unwrap().name_of(24, 1).unwrap(), "last");
        assert_eq!(record.name_of(7, 2), None, "bits of two fields");
        assert_eq!(record.map(), ["key [7:0], bth.psn [31:8], bth.last [32]"]);
    }
}
