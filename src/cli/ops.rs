//! Lists of explicit ops in JSON: what `apply` reads and `plan` writes.

use anyhow::{Context, anyhow, bail};
use feedline::draft::op::Op;
use serde_json::Value;

/// Reads a list of ops; errors name the position in the list, from 0, and the nearest name that exists.
pub(crate) fn parse(list: Value) -> anyhow::Result<Vec<Op>> {
    let items = match list {
        Value::Array(items) => items,
        // What `plan` prints can be handed on as it is.
        Value::Object(mut plan) => match plan.remove("ops") {
            Some(Value::Array(items)) => items,
            _ => bail!(
                "ops must be a list such as [{{\"op\": \"hflip\"}}], or an object that holds one as \"ops\""
            ),
        },
        _ => bail!("ops must be a list such as [{{\"op\": \"hflip\"}}]"),
    };
    items.into_iter().enumerate().map(|(position, item)| parse_one(position, item)).collect()
}

/// Reads ops from JSON text.
pub(crate) fn parse_text(text: &str) -> anyhow::Result<Vec<Op>> {
    parse(serde_json::from_str(text).context("the ops are not valid JSON")?)
}

fn parse_one(position: usize, item: Value) -> anyhow::Result<Op> {
    let name = match item.get("op") {
        Some(Value::String(name)) => name.clone(),
        _ => bail!("op {position} of the list has no name: write it as {{\"op\": \"hflip\"}}"),
    };
    serde_json::from_value(item).map_err(|error| {
        let message = error.to_string();
        let mut message = message.replacen("unknown variant", "unknown op", 1);
        if message.starts_with("a ") || message.starts_with("one ") {
            message = format!("one of its values must be {message}");
        }
        let suggestion = suggestion(&message).unwrap_or_default();
        anyhow!("op {position} of the list (`{name}`): {message}{suggestion}")
    })
}

/// "did you mean", where serde's message quotes an unknown name and then the names that exist.
fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    nearest(unknown, quoted).map(|name| format!("; did you mean `{name}`?"))
}

/// The most similar of `names`, unless none is similar.
pub(crate) fn nearest<'a>(unknown: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::jaro_winkler(&unknown.to_lowercase(), name), name));
    scored.filter(|(score, _)| *score > 0.7).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        format!("{:#}", parse_text(text).expect_err("must be refused"))
    }

    #[test]
    fn an_unknown_op_is_named_with_its_position_and_its_nearest_neighbour() {
        let message = error(r#"[{"op":"hflip"},{"op":"rezise","size":[4,4]}]"#);
        assert!(message.contains("op 1 of the list (`rezise`)"), "{message}");
        assert!(message.contains("did you mean `resize`?"), "{message}");
    }

    #[test]
    fn an_unknown_field_is_named_with_its_position_and_its_nearest_neighbour() {
        let message = error(r#"[{"op":"resize","size":[4,4],"antialis":true}]"#);
        assert!(message.contains("op 0 of the list (`resize`)"), "{message}");
        assert!(message.contains("unknown field `antialis`"), "{message}");
        assert!(message.contains("did you mean `antialias`?"), "{message}");
    }

    #[test]
    fn a_missing_field_and_a_missing_name_are_told_apart() {
        assert!(error(r#"[{"op":"resize"}]"#).contains("missing field `size`"));
        assert!(error(r#"[{"size":[4,4]}]"#).contains("op 0 of the list has no name"));
        assert!(error("[[]]").contains("has no name"));
        assert!(error("7").contains("must be a list"));
        assert!(error("[").contains("not valid JSON"));
    }

    #[test]
    fn ops_come_back_from_json_exactly_as_they_were() {
        let ops = vec![
            Op::Brightness { factor: 1.0 / 3.0 + 1e-16 },
            Op::Hflip {},
            Op::Normalize { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
        ];
        let text = serde_json::to_string(&ops).expect("ops are plain");
        assert_eq!(parse_text(&text).expect("own output"), ops);
    }
}
