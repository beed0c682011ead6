//! The crate `a-tree` on rules and events from files; see ../../drivers.py for what is said.
//!
//! Usage: driver FOLDER BUILD_SECONDS MATCH_SECONDS SAMPLE

use a_tree::{ATree, AttributeDefinition, Event};
use serde_json::{json, Value};
use std::{collections::BTreeMap, env, fs, time::Instant};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let folder = &arguments[1];
    let build_limit: f64 = arguments[2].parse().unwrap();
    let match_limit: f64 = arguments[3].parse().unwrap();
    let sample: usize = arguments[4].parse().unwrap();
    let events = lines(&format!("{folder}/events.jsonl"));
    let rules = lines(&format!("{folder}/rules.jsonl"));

    let kinds = kinds(&format!("{folder}/attributes.json"));
    let definitions: Vec<_> = kinds
        .iter()
        .map(|(name, kind)| match kind.as_str() {
            "BOOL" => AttributeDefinition::boolean(name),
            "INT" => AttributeDefinition::integer(name),
            "DBL" => AttributeDefinition::float(name),
            _ => AttributeDefinition::string(name),
        })
        .collect();
    let mut tree = ATree::new(&definitions).unwrap();
    let begun = Instant::now();
    let mut taken = 0;
    for rule in &rules {
        let text = rule["rules"][0].as_str().unwrap();
        if let Err(error) = tree.insert(&rule["id"].as_u64().unwrap(), text) {
            panic!("{text}: {error:?}");
        }
        taken += 1;
        if begun.elapsed().as_secs_f64() > build_limit {
            break;
        }
    }
    let build_s = begun.elapsed().as_secs_f64();

    // Events know the tree's texts by number, so they are made after the rules, and not timed.
    let events: Vec<Event> = events.iter().map(|e| event(&tree, &kinds, e)).collect();
    let mut answers: Vec<Vec<u64>> = Vec::new();
    let mut begun = Instant::now();
    for event in events.iter().take(sample) {
        answers.push(found(&tree, event));
        if begun.elapsed().as_secs_f64() > match_limit {
            break;
        }
    }
    let (mut count, mut match_s) = (answers.len(), begun.elapsed().as_secs_f64());
    if match_s < match_limit {
        begun = Instant::now();
        count = 0;
        for event in events.iter().cycle() {
            found(&tree, event);
            count += 1;
            match_s = begun.elapsed().as_secs_f64();
            if match_s > match_limit {
                break;
            }
        }
    }
    let outcome = json!({"rules": taken, "build_s": build_s, "events": count, "match_s": match_s,
        "answers": answers, "peak_mb": peak_mb()});
    println!("{outcome}");
}

fn found(tree: &ATree<u64>, event: &Event) -> Vec<u64> {
    tree.search(event).unwrap().matches().iter().map(|id| **id).collect()
}

fn event(tree: &ATree<u64>, kinds: &BTreeMap<String, String>, object: &Value) -> Event {
    let mut builder = tree.make_event();
    for (name, value) in object.as_object().unwrap() {
        match kinds[name].as_str() {
            "BOOL" => builder.with_boolean(name, value.as_bool().unwrap()),
            "INT" => builder.with_integer(name, value.as_i64().unwrap()),
            "DBL" => {
                let (number, scale) = decimal(value.as_f64().unwrap());
                builder.with_float(name, number, scale)
            }
            _ => builder.with_string(name, value.as_str().unwrap()),
        }
        .unwrap();
    }
    builder.build().unwrap()
}

/// 12.5 as (125, 1): the crate has decimals where others have doubles.
fn decimal(value: f64) -> (i64, u32) {
    let text = format!("{value}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    (format!("{whole}{rest}").parse().unwrap(), rest.len() as u32)
}

fn kinds(file: &str) -> BTreeMap<String, String> {
    let found: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let pairs = found.as_object().unwrap().iter();
    pairs.map(|(name, kind)| (name.clone(), kind.as_str().unwrap().to_owned())).collect()
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("VmHWM: 0");
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
}
