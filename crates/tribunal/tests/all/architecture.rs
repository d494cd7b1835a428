//! What ARCHITECTURE.md says of the crates is so: each is in its table of rooms, and depends only
//! on rooms above it. And what a page of the documentation links to is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::root;

/// The crates in the order of the table of rooms.
fn rooms() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `crates/"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned())).collect()
}

/// The crates of the workspace that a crate depends on, its tests aside.
fn dependencies(room: &str, rooms: &[String]) -> Vec<String> {
    let manifest = root().join("crates").join(room).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).unwrap();
    let (mut inside, mut found) = (false, Vec::new());
    for line in text.lines() {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies") && !line.contains("dev-");
        } else if inside {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            found.extend(rooms.iter().find(|room| *room == name).cloned());
        }
    }
    found
}

#[test]
fn every_crate_is_in_the_table_of_rooms_once() {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    let mut rooms = rooms();
    folders.sort();
    rooms.sort();
    assert_eq!(rooms, folders);
}

#[test]
fn a_room_depends_only_on_rooms_above_it() {
    let rooms = rooms();
    let mut edges = 0;
    for (place, room) in rooms.iter().enumerate() {
        for dependency in dependencies(room, &rooms) {
            edges += 1;
            let above = rooms[..place].contains(&dependency);
            assert!(above, "{room} depends on {dependency}, which ARCHITECTURE.md has below it");
        }
    }
    assert!(edges > 2 * rooms.len(), "{edges} dependencies were found");
}

/// All pages of the documentation.
fn pages() -> BTreeSet<PathBuf> {
    let folders = ["", "docs", "docs/design", "protocols", "bench", "corpus"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// The files that a page links to.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(page).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    let files = files.map(|target| target.split('#').next().unwrap_or(target));
    files.map(|file| page.parent().unwrap().join(file)).collect()
}

#[test]
fn pages_link_to_files_that_exist() {
    let pages = pages();
    let links: Vec<_> =
        pages.iter().flat_map(|page| links(page).into_iter().map(move |to| (page, to))).collect();
    assert!(links.len() > 40, "{} links were found", links.len());
    for (page, to) in links {
        assert!(to.exists(), "{} links to {}", page.display(), to.display());
    }
}
