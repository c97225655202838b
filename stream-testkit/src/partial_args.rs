//! Arguments that Gemini sends piece by piece: `partialArgs`, each piece with the path of the value it fills.

use serde_json::{Value, json};

/// Adds pieces to the arguments they belong to.
///
/// # Errors
///
/// The first piece that does not fit: a path that is none, a place in a list that leaves a hole, a value below or over
/// another. The pieces behind it are added all the same, as a client does that does not look.
pub(crate) fn add(pieces: &[Value], args: &mut Value) -> Result<(), String> {
    let mut misfit = Ok(());
    for piece in pieces {
        if args.is_null() {
            *args = json!({});
        }
        let path = piece["jsonPath"].as_str().unwrap_or_default();
        let fits = path.strip_prefix('$').is_some_and(|rest| !rest.is_empty() && set(args, rest, piece));
        if !fits && misfit.is_ok() {
            misfit = Err(format!("expected a piece that fits what came before, found {piece}"));
        }
    }
    misfit
}

/// Walks down the path `.name[0].name`, makes what is not there, and fills its end. Whether the piece fits.
fn set(at: &mut Value, path: &str, piece: &Value) -> bool {
    if let Some(rest) = path.strip_prefix('[') {
        let Some((key, rest)) = rest.split_once(']') else { return false };
        let Ok(index) = key.parse::<usize>() else {
            return member(at, key.trim_matches(['\'', '"']), rest, piece);
        };
        if at.is_null() {
            *at = json!([]);
        }
        let Some(items) = at.as_array_mut().filter(|items| index <= items.len()) else { return false };
        if index == items.len() {
            items.push(Value::Null);
        }
        set(&mut items[index], rest, piece)
    } else if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        member(at, &rest[..end], &rest[end..], piece)
    } else {
        path.is_empty() && fill(at, piece)
    }
}

fn member(at: &mut Value, key: &str, rest: &str, piece: &Value) -> bool {
    if at.is_null() {
        *at = json!({});
    }
    at.is_object() && set(&mut at[key], rest, piece)
}

/// Strings grow; anything else is said once.
fn fill(at: &mut Value, piece: &Value) -> bool {
    if let (Value::String(before), Some(more)) = (&mut *at, piece["stringValue"].as_str()) {
        before.push_str(more);
        return true;
    }
    let given = ["stringValue", "numberValue", "boolValue", "nullValue"];
    let mut values = given.into_iter().filter_map(|key| piece.get(key).map(|value| (key, value)));
    let is_first = at.is_null();
    match (values.next(), values.next()) {
        (Some(("nullValue", _)), None) => *at = Value::Null,
        (Some((_, value)), None) => *at = value.clone(),
        _ => return false,
    }
    is_first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(pieces: &[Value]) -> (Value, Result<(), String>) {
        let mut args = Value::Null;
        let fits = add(pieces, &mut args);
        (args, fits)
    }

    #[test]
    fn pieces_fill_their_paths() {
        let (args, fits) = added(&[
            json!({"jsonPath": "$.of[0].name", "stringValue": "sa"}),
            json!({"jsonPath": "$.of[0].name", "stringValue": "lt"}),
            json!({"jsonPath": "$.of[1]['a b']", "numberValue": 2}),
            json!({"jsonPath": "$.list[0]", "stringValue": "x"}),
            json!({"jsonPath": "$.list[0]", "stringValue": "y"}),
            json!({"jsonPath": "$.hot", "boolValue": true}),
            json!({"jsonPath": "$.no", "nullValue": null}),
        ]);
        assert_eq!(
            args,
            json!({"of": [{"name": "salt"}, {"a b": 2}], "list": ["xy"], "hot": true, "no": null})
        );
        assert_eq!(fits, Ok(()));
    }

    #[test]
    fn no_pieces_are_no_arguments() {
        assert_eq!(added(&[]), (Value::Null, Ok(())));
    }

    #[test]
    fn a_piece_that_does_not_fit_is_named_and_those_behind_it_count() {
        let end = json!({"jsonPath": "$.end", "numberValue": 1});
        for misfit in [
            json!({"jsonPath": "$.list[1]", "numberValue": 1}),
            json!({"jsonPath": "$.text.below", "numberValue": 1}),
            json!({"jsonPath": "$.text", "numberValue": 1}),
            json!({"jsonPath": "$.new"}),
            json!({"jsonPath": "$.new", "numberValue": 1, "boolValue": true}),
            json!({"jsonPath": "$", "numberValue": 1}),
            json!({"numberValue": 1}),
        ] {
            let (args, fits) =
                added(&[json!({"jsonPath": "$.text", "stringValue": "a"}), misfit.clone(), end.clone()]);
            assert_eq!(fits, Err(format!("expected a piece that fits what came before, found {misfit}")));
            assert_eq!(args["end"], 1);
        }
    }
}
