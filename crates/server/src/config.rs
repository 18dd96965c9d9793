//! Settings: command line, environment, one TOML file and defaults, the earlier of these over the later.

use std::{
    fmt, fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use crate::public_url::{PublicUrl, is_loopback};

/// The file of settings in the data folder.
pub const FILE: &str = "chancery.toml";

/// What an environment variable of ours starts with.
pub const PREFIX: &str = "CHANCERY_";

/// The variable that names the file of settings, as `--config` does.
const FILE_VARIABLE: &str = "CHANCERY_CONFIG";

/// The variable that holds the key of `chancery mcp`, as `--key` does.
pub const KEY_VARIABLE: &str = "CHANCERY_KEY";

/// All settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The data folder.
    pub data: PathBuf,
    /// Where the HTTP server listens.
    pub listen: SocketAddr,
    /// How others reach it, if not at the address it listens at.
    pub public_url: Option<PublicUrl>,
    /// Names of this server beside those that follow from the two above, as `host` or `host:port`.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call this server beside its own.
    pub allowed_origins: Vec<PublicUrl>,
    /// Whether the payments are play.
    pub sandbox: bool,
    /// Whether the sandbox's rail fails from the start.
    pub sandbox_rail_fails: bool,
    /// Most calls with one key in a minute; 0 for no limit, `None` for the usual one.
    pub key_calls_per_minute: Option<u32>,
    /// Most calls without a key in use from one address in a minute; 0 for no limit, `None` for the usual one.
    pub address_calls_per_minute: Option<u32>,
    /// Whether each request leaves a line on standard error.
    pub log: bool,
}

/// One setting: in the file by its name, as a flag with `-` for `_`, in the environment in capitals behind [`PREFIX`].
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What a value looks like.
    pub value: &'static str,
    /// What holds if it is not set, as the documentation says it.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub says: &'static str,
    set: fn(&mut Config, &Given) -> Result<(), String>,
}

/// Every setting, in the order of the documentation.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "data",
        value: "FOLDER",
        default: "`$XDG_DATA_HOME/chancery`, else `~/.local/share/chancery`",
        says: "The data folder: database, keys and lock. Made with mode 0700 if there is none.",
        set: |config, given| given.text().map(|text| config.data = text.into()),
    },
    Setting {
        name: "listen",
        value: "ADDRESS:PORT",
        default: "`127.0.0.1:7420`",
        says: "Where the HTTP server listens. An address that is not this machine's own loopback needs an https `public_url`. Port 0 takes a free one.",
        set: |config, given| {
            config.listen = given.text()?.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:7420".to_owned())?;
            Ok(())
        },
    },
    Setting {
        name: "public_url",
        value: "URL",
        default: "`http://` and the address listened at",
        says: "How people and agents reach the server: scheme, host and port, nothing else. Links, mandates and the log are named after it; allowed \
               Host and Origin headers follow from it, and with https the cookies are `Secure`. Plain http is for loopback hosts alone.",
        set: |config, given| {
            config.public_url = Some(origin(given.text()?)?);
            Ok(())
        },
    },
    Setting {
        name: "allowed_hosts",
        value: "LIST",
        default: "none",
        says: "Host headers to accept beside the server's own, as `host` or `host:port`.",
        set: |config, given| given.list().map(|list| config.allowed_hosts = list),
    },
    Setting {
        name: "allowed_origins",
        value: "LIST",
        default: "none",
        says: "Origins of pages that may call the server beside its own, such as `https://inspector.example`.",
        set: |config, given| {
            let origins: Result<_, _> = given.list()?.iter().map(|text| origin(text)).collect();
            config.allowed_origins = origins?;
            Ok(())
        },
    },
    Setting {
        name: "sandbox",
        value: "true|false",
        default: "`true`",
        says: "Whether payments are play: no money moves, and the pages say so. There is no other rail yet, so that `false` leaves none.",
        set: |config, given| given.switch().map(|on| config.sandbox = on),
    },
    Setting {
        name: "sandbox_rail_fails",
        value: "true|false",
        default: "`false`",
        says: "Whether the sandbox's rail refuses to issue credentials from the start, to see how that looks. `chancery admin rail fail` changes it while the server runs.",
        set: |config, given| given.switch().map(|on| config.sandbox_rail_fails = on),
    },
    Setting {
        name: "key_calls_per_minute",
        value: "NUMBER",
        default: "`6000`",
        says: "Most calls with one key in a minute; what is over is answered 429 with `Retry-After`. 0 is no limit.",
        set: |config, given| given.number().map(|number| config.key_calls_per_minute = Some(number)),
    },
    Setting {
        name: "address_calls_per_minute",
        value: "NUMBER",
        default: "`1200`",
        says: "The same for calls without a key in use, by the caller's address.",
        set: |config, given| given.number().map(|number| config.address_calls_per_minute = Some(number)),
    },
    Setting {
        name: "log",
        value: "true|false",
        default: "`false`",
        says: "Whether each request leaves a line on standard error: method, route, status, time and request id, never a path, a header or a body.",
        set: |config, given| given.switch().map(|on| config.log = on),
    },
];

/// A value as it was given.
enum Given {
    Text(String),
    Toml(toml::Value),
}

impl Given {
    fn text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) | Self::Toml(toml::Value::String(text)) if !text.is_empty() => Ok(text),
            Self::Text(_) | Self::Toml(toml::Value::String(_)) => Err("it is empty".to_owned()),
            Self::Toml(_) => Err("write it as a string".to_owned()),
        }
    }

    fn switch(&self) -> Result<bool, String> {
        match self {
            Self::Toml(toml::Value::Boolean(on)) => Ok(*on),
            Self::Text(text) if text == "true" => Ok(true),
            Self::Text(text) if text == "false" => Ok(false),
            _ => Err("write true or false".to_owned()),
        }
    }

    fn number(&self) -> Result<u32, String> {
        let number = match self {
            Self::Toml(toml::Value::Integer(number)) => u32::try_from(*number).ok(),
            Self::Text(text) => text.parse().ok(),
            Self::Toml(_) => None,
        };
        number.ok_or_else(|| format!("write a whole number from 0 to {}", u32::MAX))
    }

    /// A TOML array of strings, or texts with commas between.
    fn list(&self) -> Result<Vec<String>, String> {
        let items: Option<Vec<_>> = match self {
            Self::Text(text) => Some(text.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()),
            Self::Toml(toml::Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            Self::Toml(_) => None,
        };
        items.ok_or_else(|| "write an array of strings".to_owned())
    }
}

/// Why the settings are no good: which one, where it was given, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    place: String,
    sentence: String,
}

impl ConfigError {
    fn new(place: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { place: place.into(), sentence: sentence.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.sentence)
    }
}

impl std::error::Error for ConfigError {}

/// What was given on the command line: the file of settings, and settings by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The file of settings.
    pub file: Option<PathBuf>,
    settings: Vec<(&'static str, String)>,
}

impl Flags {
    /// The setting that a flag sets, if it is one: `public-url` sets `public_url`.
    pub fn setting(flag: &str) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| setting.name.replace('_', "-") == flag)
    }

    /// Takes a flag's value.
    ///
    /// # Errors
    /// If the flag was given before.
    pub fn set(&mut self, setting: &'static Setting, value: String) -> Result<(), ConfigError> {
        if self.settings.iter().any(|(name, _)| *name == setting.name) {
            return Err(ConfigError::new(flag_name(setting), "it is given twice"));
        }
        self.settings.push((setting.name, value));
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

fn flag_name(setting: &Setting) -> String {
    format!("--{}", setting.name.replace('_', "-"))
}

/// The name of a setting's environment variable.
pub fn variable_name(setting: &Setting) -> String {
    format!("{PREFIX}{}", setting.name.to_ascii_uppercase())
}

impl Config {
    /// Reads the settings: flags over environment variables over the file over defaults. The file is the one named, else
    /// `chancery.toml` in the data folder if there is one.
    ///
    /// `environment` is all of the process's environment; what does not start with [`PREFIX`] is left alone, but for the
    /// home folder.
    ///
    /// # Errors
    /// A setting that is not known, a value that cannot be one, or a listener that others can reach without https.
    pub fn load(flags: &Flags, environment: &[(String, String)]) -> Result<Self, ConfigError> {
        let given = Sources { flags, environment };
        let (file, is_named) = given.named_file().map_or_else(|| (given.folder().join(FILE), false), |file| (file, true));
        match fs::read_to_string(&file) {
            Ok(source) => Self::read(flags, environment, Some((&file, &source))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Self::read(flags, environment, None),
            Err(error) => Err(unread(&file, &error)),
        }
    }

    /// The same of a file of settings that was read: where it is, and its text.
    ///
    /// # Errors
    /// As for [`Config::load`].
    pub fn read(flags: &Flags, environment: &[(String, String)], file: Option<(&Path, &str)>) -> Result<Self, ConfigError> {
        let given = Sources { flags, environment };
        let mut config = Self {
            data: given.default_folder(),
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            sandbox: true,
            sandbox_rail_fails: false,
            key_calls_per_minute: None,
            address_calls_per_minute: None,
            log: false,
        };
        for (name, _) in environment.iter().filter(|(name, _)| name.starts_with(PREFIX)) {
            let is_known = [FILE_VARIABLE, KEY_VARIABLE].contains(&&**name) || SETTINGS.iter().any(|setting| variable_name(setting) == *name);
            if !is_known {
                return Err(ConfigError::new(name, "there is no such setting (docs/configuration.md lists them)"));
            }
        }
        if let Some((file, source)) = file {
            config.take(file, source)?;
            if given.named_file().is_none() && config.data != given.default_folder() && config.data != given.folder() {
                return Err(ConfigError::new(
                    format!("{}: data", file.display()),
                    "the file of a data folder cannot name another one: use --config, --data or CHANCERY_DATA",
                ));
            }
        }
        for setting in SETTINGS {
            let name = variable_name(setting);
            if let Some(value) = given.variable(&name) {
                (setting.set)(&mut config, &Given::Text(value.to_owned())).map_err(|sentence| ConfigError::new(name, sentence))?;
            }
            if let Some(value) = flags.get(setting.name) {
                (setting.set)(&mut config, &Given::Text(value.to_owned())).map_err(|sentence| ConfigError::new(flag_name(setting), sentence))?;
            }
        }
        config.check()?;
        Ok(config)
    }

    /// Takes what a file of settings says.
    fn take(&mut self, file: &Path, source: &str) -> Result<(), ConfigError> {
        let table: toml::Table = source.parse().map_err(|error: toml::de::Error| ConfigError::new(file.display().to_string(), error.message()))?;
        for (name, value) in table {
            let place = format!("{}: {name}", file.display());
            let setting = SETTINGS
                .iter()
                .find(|setting| setting.name == name)
                .ok_or_else(|| ConfigError::new(&place, "there is no such setting (docs/configuration.md lists them)"))?;
            (setting.set)(self, &Given::Toml(value)).map_err(|sentence| ConfigError::new(place, sentence))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigError> {
        let is_secure = self.public_url.as_ref().is_some_and(PublicUrl::is_https);
        if !is_loopback(self.listen.ip()) && !is_secure {
            return Err(ConfigError::new(
                "listen",
                "others can reach this address: set public_url to the https URL under which they do, or listen at 127.0.0.1",
            ));
        }
        Ok(())
    }
}

fn origin(text: &str) -> Result<PublicUrl, String> {
    PublicUrl::parse(text).map_err(str::to_owned)
}

/// What settings are read from beside a file.
struct Sources<'a> {
    flags: &'a Flags,
    environment: &'a [(String, String)],
}

impl Sources<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// The file that is named, if one is.
    fn named_file(&self) -> Option<PathBuf> {
        self.flags.file.clone().or_else(|| self.variable(FILE_VARIABLE).map(PathBuf::from))
    }

    /// The data folder, as far as no file names it.
    fn folder(&self) -> PathBuf {
        self.flags.get("data").or_else(|| self.variable("CHANCERY_DATA")).map_or_else(|| self.default_folder(), PathBuf::from)
    }

    fn default_folder(&self) -> PathBuf {
        match (self.variable("XDG_DATA_HOME"), self.variable("HOME")) {
            // The XDG rule: a relative path there is to be ignored.
            (Some(data), _) if Path::new(data).is_absolute() => Path::new(data).join("chancery"),
            (_, Some(home)) => Path::new(home).join(".local/share/chancery"),
            _ => PathBuf::from("chancery-data"),
        }
    }
}

fn unread(file: &Path, error: &io::Error) -> ConfigError {
    ConfigError::new(file.display().to_string(), format!("it cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn flags(pairs: &[(&str, &str)]) -> Flags {
        let mut flags = Flags::default();
        for (flag, value) in pairs {
            flags.set(Flags::setting(flag).unwrap(), (*value).to_owned()).unwrap();
        }
        flags
    }

    /// A folder that holds only that file of settings.
    fn folder_with(source: &str) -> TempFolder {
        let folder = TempFolder::new().unwrap();
        fs::write(folder.path().join(FILE), source).unwrap();
        folder
    }

    fn failure(flags: &Flags, environment: &[(&str, &str)]) -> String {
        Config::load(flags, &variables(environment)).unwrap_err().to_string()
    }

    #[test]
    fn defaults() {
        let config = Config::load(&Flags::default(), &variables(&[("HOME", "/nowhere/ada"), ("CHANCERY_DATA", "")])).unwrap();
        assert_eq!(config.data, Path::new("/nowhere/ada/.local/share/chancery"));
        assert_eq!((config.listen.to_string().as_str(), config.public_url, config.sandbox), ("127.0.0.1:7420", None, true));
        let folder = |pairs| Config::load(&Flags::default(), &variables(pairs)).unwrap().data;
        assert_eq!(folder(&[("HOME", "/nowhere/ada"), ("XDG_DATA_HOME", "/nowhere/data")]), Path::new("/nowhere/data/chancery"));
        assert_eq!(folder(&[("HOME", "/nowhere/ada"), ("XDG_DATA_HOME", "data")]), Path::new("/nowhere/ada/.local/share/chancery"));
        assert_eq!(folder(&[]), Path::new("chancery-data"));
    }

    #[test]
    fn flags_over_environment_over_file() {
        let folder = folder_with("listen = \"127.0.0.1:1\"\nsandbox = false\nallowed_hosts = [\"a.example\", \"b.example:8443\"]\n");
        let path = folder.path().display().to_string();
        let environment = variables(&[("CHANCERY_DATA", &path), ("CHANCERY_LISTEN", "127.0.0.1:2"), ("CHANCERY_SANDBOX_RAIL_FAILS", "true")]);
        let config = Config::load(&Flags::default(), &environment).unwrap();
        assert_eq!((config.listen.port(), config.sandbox, config.sandbox_rail_fails), (2, false, true));
        assert_eq!(config.allowed_hosts, ["a.example", "b.example:8443"]);
        let config = Config::load(&flags(&[("listen", "127.0.0.1:3"), ("sandbox", "true")]), &environment).unwrap();
        assert_eq!((config.listen.port(), config.sandbox, config.sandbox_rail_fails), (3, true, true));
    }

    #[test]
    fn the_file_that_is_named_may_name_the_folder() {
        let folder = folder_with("data = \"/nowhere/else\"\n");
        let file = folder.path().join(FILE);
        let config = Config::load(&Flags { file: Some(file.clone()), ..Flags::default() }, &[]).unwrap();
        assert_eq!(config.data, Path::new("/nowhere/else"));
        let config = Config::load(&Flags::default(), &variables(&[("CHANCERY_CONFIG", &file.display().to_string())])).unwrap();
        assert_eq!(config.data, Path::new("/nowhere/else"));
        let path = folder.path().display().to_string();
        assert!(failure(&flags(&[("data", &path)]), &[]).contains("cannot name another one"));
    }

    #[test]
    fn what_is_not_known_is_refused_by_its_name() {
        let folder = folder_with("lissten = \"127.0.0.1:1\"\n");
        let path = folder.path().display().to_string();
        assert!(failure(&flags(&[("data", &path)]), &[]).contains("chancery.toml: lissten: there is no such setting"));
        assert!(failure(&Flags::default(), &[("CHANCERY_LISSTEN", "127.0.0.1:1")]).starts_with("CHANCERY_LISSTEN: there is no such setting"));
        assert!(Flags::setting("lissten").is_none() && Flags::setting("public_url").is_none() && Flags::setting("public-url").is_some());
        let folder = folder_with("listen = \n");
        assert!(failure(&flags(&[("data", &folder.path().display().to_string())]), &[]).contains("chancery.toml: "));
        assert!(failure(&Flags { file: Some("/nowhere/chancery.toml".into()), ..Flags::default() }, &[]).contains("it cannot be read"));
    }

    #[test]
    fn values_that_cannot_be_are_refused() {
        for (flag, value) in [
            ("listen", "localhost:7420"),
            ("listen", "127.0.0.1"),
            ("listen", "127.0.0.1:70000"),
            ("sandbox", "yes"),
            ("sandbox", ""),
            ("key-calls-per-minute", "-1"),
            ("key-calls-per-minute", "10 "),
            ("address-calls-per-minute", "4294967296"),
            ("public-url", "https://pay.example/path"),
            ("allowed-origins", "https://a.example,b.example"),
            ("data", ""),
        ] {
            let error = failure(&flags(&[(flag, value)]), &[]);
            assert!(error.starts_with(&format!("--{flag}: ")), "{flag} {value}: {error}");
        }
        for source in
            ["listen = 7420", "sandbox = \"true\"", "allowed_hosts = \"a.example\"", "allowed_hosts = [1]", "log = 1", "key_calls_per_minute = 1.0"]
        {
            let folder = folder_with(source);
            assert!(Config::load(&flags(&[("data", &folder.path().display().to_string())]), &[]).is_err(), "{source}");
        }
        let setting = Flags::setting("listen").unwrap();
        let mut twice = flags(&[("listen", "127.0.0.1:1")]);
        assert_eq!(twice.set(setting, "127.0.0.1:2".to_owned()).unwrap_err().to_string(), "--listen: it is given twice");
    }

    #[test]
    fn an_address_that_others_reach_needs_https() {
        for listen in ["0.0.0.0:7420", "[::]:7420", "192.0.2.1:7420", "[::ffff:192.0.2.1]:7420"] {
            assert!(failure(&flags(&[("listen", listen)]), &[]).starts_with("listen: "), "{listen}");
            assert!(failure(&flags(&[("listen", listen), ("public-url", "http://127.0.0.1:7420")]), &[]).starts_with("listen: "), "{listen}");
            assert!(Config::load(&flags(&[("listen", listen), ("public-url", "https://pay.example")]), &[]).is_ok(), "{listen}");
        }
        for listen in ["127.0.0.1:0", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(Config::load(&flags(&[("listen", listen)]), &[]).is_ok(), "{listen}");
        }
    }

    #[test]
    fn the_documentation_lists_every_setting() {
        let page = include_str!("../../../docs/configuration.md");
        let rows: Vec<String> = SETTINGS.iter().map(row).collect();
        let found: Vec<_> = page.lines().filter(|line| line.starts_with("| `") && line.contains(PREFIX)).collect();
        assert_eq!(found, rows);
    }

    /// A setting's row in the documentation's table.
    fn row(setting: &Setting) -> String {
        let (flag, value, variable) = (flag_name(setting), setting.value.replace('|', "\\|"), variable_name(setting));
        format!("| `{}` | `{flag} {value}` | `{variable}` | {} | {} |", setting.name, setting.default, setting.says)
    }
}
