//! What may be said about a bus, what is refused, and that secrets are not shown.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn settled(bus: &str, environment: &[(&str, &str)]) -> Result<BusOptions, BusError> {
    let given = Given { bus: bus.to_owned(), ..Given::default() };
    with(&given, environment)
}

fn with(given: &Given, environment: &[(&str, &str)]) -> Result<BusOptions, BusError> {
    let find = |name: &str| {
        environment.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
    };
    BusOptions::new(given, find)
}

fn user(name: &str, password: &str) -> Entry {
    Entry::User(name.to_owned(), Secret(password.to_owned()))
}

fn token(text: &str) -> Entry {
    Entry::Token(Secret(text.to_owned()))
}

#[test]
fn a_password_or_token_in_the_address_can_be_seen_by_others() {
    let visible = |bus: &str, environment: &[(&str, &str)]| {
        settled(bus, environment).unwrap().has_visible_secret()
    };
    assert!(visible("nats://ann:hush@bus", &[]));
    assert!(visible("nats://t0ken@bus", &[]));
    let password = [("DYNO_BUS_PASSWORD", "hush")];
    assert!(!visible("nats://ann@bus", &password));
    assert!(!visible("nats://bus", &[("DYNO_BUS_USER", "ann"), password[0]]));
    assert!(!visible("nats://bus", &[("DYNO_BUS_TOKEN", "t0ken")]));
    assert!(!visible("nats://bus", &[]));
    let given = Given { bus: "nats://ann:hush@bus".to_owned(), ..Given::default() };
    assert!(!format!("{given:?}").contains("hush"));
}

#[test]
fn addresses_as_users_of_nats_write_them() {
    for (given, shown, entry) in [
        ("localhost", "nats://localhost:4222", Entry::Open),
        ("nats://bus:4333/", "nats://bus:4333", Entry::Open),
        ("tls://bus", "tls://bus:4222", Entry::Open),
        ("nats://[::1]:4222", "nats://[::1]:4222", Entry::Open),
        ("nats://[::1]", "nats://[::1]:4222", Entry::Open),
        ("nats://ann:hush@bus", "nats://bus:4222", user("ann", "hush")),
        ("nats://ann:h%40%25:x@bus", "nats://bus:4222", user("ann", "h@%:x")),
        ("nats://t0ken@bus", "nats://bus:4222", token("t0ken")),
        ("a:1, tls://b:2", "nats://a:1,tls://b:2", Entry::Open),
        ("ann:hush@a,nats://b", "nats://a:4222,nats://b:4222", user("ann", "hush")),
    ] {
        let options = settled(given, &[]).expect(given);
        assert_eq!((options.shown().as_str(), &options.entry), (shown, &entry), "{given}");
    }
}

#[test]
fn the_environment_is_asked_where_nothing_was_given() {
    let both = [("DYNO_BUS_USER", "ann"), ("DYNO_BUS_PASSWORD", "hush")];
    let entry = |bus: &str, environment: &[(&str, &str)]| {
        settled(bus, environment).map(|options| options.entry)
    };
    assert_eq!(entry("bus", &both), Ok(user("ann", "hush")));
    assert_eq!(entry("bus", &[("DYNO_BUS_TOKEN", "t0ken")]), Ok(token("t0ken")));
    assert_eq!(entry("bus", &[("DYNO_BUS_TOKEN", "")]), Ok(Entry::Open));
    assert_eq!(entry("bob:loud@bus", &both), Ok(user("bob", "loud")));
    assert_eq!(entry("bob@bus", &both[1..]), Ok(user("bob", "hush")));
    let error = entry("bus", &both[..1]).expect_err("a user without a password");
    assert_eq!(error.to_string(), "DYNO_BUS_USER is set without DYNO_BUS_PASSWORD");
}

#[test]
fn what_is_wrong_is_said_without_the_secret() {
    for (bus, message) in [
        (
            "http://ann:hush@bus",
            "`http://…@bus` is not a valid NATS URL: it must begin with nats:// or tls://",
        ),
        (
            "ws://bus",
            "`ws://bus` is not a valid NATS URL: websockets are not supported: use nats:// or tls://",
        ),
        (
            "ann:hush@bus:x",
            "`…@bus:x` is not a valid NATS URL: the port must be a number from 1 to 65535",
        ),
        (
            "nats://a:4222,",
            "`` is not a valid NATS URL: the host must be a name, an address, or an IPv6 address in brackets",
        ),
        (
            "nats://ann:hu%zzsh@bus",
            "`nats://…@bus` is not a valid NATS URL: user and password must not be empty; write @ as %40 and % as %25",
        ),
        (
            "nats://ann:hush@a,bob:hush@b",
            "`…@b` is not a valid NATS URL: all servers must have the same user and password",
        ),
        (
            "nats://a b",
            "`nats://a b` is not a valid NATS URL: the host must be a name, an address, or an IPv6 address in brackets",
        ),
    ] {
        let error = settled(bus, &[]).expect_err(bus).to_string();
        assert_eq!(error, message);
        assert!(!error.contains("hush"), "{error}");
    }
}

#[test]
fn secrets_are_in_no_debug_output() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("token");
    std::fs::write(&file, "hush\n").expect("written");
    let given = Given { bus: "bus".to_owned(), token: Some(file), ..Given::default() };
    for options in
        [settled("nats://ann:hush@bus", &[]), settled("nats://hush@bus", &[]), with(&given, &[])]
    {
        let options = options.expect("fine");
        assert!(!format!("{options:?}{}", options.shown()).contains("hush"));
        assert_ne!(options.entry, Entry::Open);
    }
}

#[test]
fn files_and_flags_are_checked_before_anything_is_done() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("x");
    std::fs::write(&file, "nothing useful").expect("written");
    let path = file.display();
    let base = || Given { bus: "bus".to_owned(), ..Given::default() };
    let some = || Some(file.clone());
    for (given, message) in [
        (Given { nkey: some(), ..base() }, format!("--bus-nkey: `{path}`: there is no seed of a user in it: a word of 58 characters that begins with SU")),
        (Given { creds: some(), ..base() }, format!("--bus-creds: `{path}`: it is no credentials file: it must have a JWT and a seed of a user")),
        (Given { ca: some(), ..base() }, format!("--bus-ca: `{path}`: it is no PEM file")),
        (Given { cert: some(), ..base() }, "--bus-cert needs --bus-key, too".to_owned()),
        (Given { token: Some("/nowhere".into()), ..base() }, "--bus-token: `/nowhere`: No such file or directory (os error 2)".to_owned()),
        (Given { token: some(), bus: "ann:hush@bus".to_owned(), ..base() }, "--bus: --bus-token and --bus USER:PASSWORD@ are two ways in: give one".to_owned()),
        (Given { prefix: Some("a.*".to_owned()), ..base() }, "--bus-prefix must be names of letters, digits, - and _, separated by dots, in at most 60 characters".to_owned()),
    ] {
        assert_eq!(with(&given, &[]).expect_err(&message).to_string(), message);
    }
}
