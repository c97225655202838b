//! Attempts in Redis, for several processes that serve the same sessions.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{Client, Cmd, FromRedisValue, Script};
use stream_core::{PolicyError, SessionKey, async_trait};

use super::attempts::Attempts;
use crate::SettingsError;

/// [`Attempts`] in Redis: every process that names the same Redis counts together.
///
/// A count is one script that Redis runs as a whole, so that two processes never count the same attempt as one. While Redis
/// cannot be reached every call of a session is dropped, as with any store that fails; when it is back, counting goes on by
/// itself. A row is forgotten when nothing was counted in it for the time to live.
///
/// Connections are made when they are first needed, so that a Redis that is down is no reason not to start.
#[must_use]
pub struct RedisAttempts {
    client: Client,
    connection: OnceLock<ConnectionManager>,
    count: Script,
    time_to_live: Duration,
    timeout: Duration,
}

impl RedisAttempts {
    /// Attempts in the Redis at this address: `redis://host:port/database`, with a password as
    /// `redis://:password@host:port`.
    ///
    /// # Errors
    ///
    /// When it is no address.
    pub fn new(address: &str) -> Result<Self, SettingsError> {
        let wrong = |_| {
            // The address may hold a password: it is not repeated.
            SettingsError::new("redis", "an address such as redis://127.0.0.1:6379", "something else")
        };
        Ok(Self {
            client: Client::open(address).map_err(wrong)?,
            connection: OnceLock::new(),
            count: Script::new(COUNT),
            time_to_live: TIME_TO_LIVE,
            timeout: TIMEOUT,
        })
    }

    /// Sets the time for which a row of failures is remembered; one hour by default.
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.time_to_live = time;
        self
    }

    /// Sets the time limit of an answer of Redis, connecting included; half a second by default.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    fn connection(&self) -> Result<ConnectionManager, PolicyError> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection.clone());
        }
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        let made = ConnectionManager::new_lazy_with_config(self.client.clone(), config)
            .map_err(|error| away(&error))?;
        Ok(self.connection.get_or_init(|| made).clone())
    }

    async fn ask<T: FromRedisValue>(&self, command: Command<'_>) -> Result<T, PolicyError> {
        let asked = async {
            let mut connection = self.connection()?;
            match command.send(&mut connection).await {
                // The connection has gone since it was last used: it is made anew, once.
                Err(error) if error.is_unrecoverable_error() || error.is_io_error() => {
                    command.send(&mut connection).await.map_err(|error| away(&error))
                }
                answer => answer.map_err(|error| away(&error)),
            }
        };
        tokio::time::timeout(self.timeout, asked)
            .await
            .unwrap_or_else(|_| Err(PolicyError::new("Redis does not answer")))
    }
}

/// What Redis is asked.
enum Command<'a> {
    Count(&'a Script, String, Duration),
    Forget(Cmd),
}

impl Command<'_> {
    async fn send<T: FromRedisValue>(&self, connection: &mut ConnectionManager) -> ::redis::RedisResult<T> {
        match self {
            Self::Count(script, key, time) => {
                let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                script.key(key).arg(time).invoke_async(connection).await
            }
            Self::Forget(command) => command.query_async(connection).await,
        }
    }
}

#[async_trait]
impl Attempts for RedisAttempts {
    async fn failed(&self, session: &SessionKey, tool: &str) -> Result<u32, PolicyError> {
        self.ask(Command::Count(&self.count, key(session, tool)?, self.time_to_live)).await
    }

    async fn succeeded(&self, session: &SessionKey, tool: &str) -> Result<(), PolicyError> {
        let mut forget = Cmd::new();
        forget.arg("DEL").arg(key(session, tool)?);
        self.ask::<()>(Command::Forget(forget)).await
    }
}

impl fmt::Debug for RedisAttempts {
    /// The address may hold a password: it is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisAttempts")
            .field("time_to_live", &self.time_to_live)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The key of a row. Tools are named by the model: the length before each part keeps two rows from having one key.
fn key(session: &SessionKey, tool: &str) -> Result<String, PolicyError> {
    let session = session.as_str();
    if tool.len() > LONGEST {
        let found = tool.len();
        return Err(PolicyError::new(format!(
            "expected a tool's name of at most {LONGEST} bytes, found {found}"
        )));
    }
    Ok(format!("stream:attempts:{}:{session}:{}:{tool}", session.len(), tool.len()))
}

fn away(error: &::redis::RedisError) -> PolicyError {
    PolicyError::new(format!("Redis: {}", error.category()))
}

/// Counts and sets the time in one step: a row never stays without an end.
const COUNT: &str = "local count = redis.call('INCR', KEYS[1]) \
                     redis.call('PEXPIRE', KEYS[1], ARGV[1]) \
                     return count";
const TIME_TO_LIVE: Duration = Duration::from_secs(3600);
const TIMEOUT: Duration = Duration::from_millis(500);
const LONGEST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_have_one_key() {
        let key = |session: &str, tool: &str| key(&SessionKey::new(session), tool).unwrap();
        assert_eq!(key("a", "b"), "stream:attempts:1:a:1:b");
        assert_ne!(key("a:1:b", "c"), key("a", "b:1:c"));
        assert_ne!(key("a", "1:b"), key("a:1", "b"));
    }

    #[test]
    fn a_password_is_never_told() {
        let attempts = RedisAttempts::new("redis://:secret@127.0.0.1:1").unwrap();
        assert_eq!(format!("{attempts:?}"), "RedisAttempts { time_to_live: 3600s, timeout: 500ms, .. }");
        let error = RedisAttempts::new("not:secret").unwrap_err().to_string();
        assert_eq!(error, "redis: expected an address such as redis://127.0.0.1:6379, found something else");
    }

    /// Fail closed: a store that cannot be reached is an error, and an error drops the call.
    #[tokio::test]
    async fn a_redis_that_is_down_is_an_error_within_the_timeout() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let attempts = RedisAttempts::new(&format!("redis://127.0.0.1:{port}")).unwrap();
        let start = std::time::Instant::now();
        assert!(attempts.failed(&SessionKey::new("a"), "shell").await.is_err());
        assert!(attempts.succeeded(&SessionKey::new("a"), "shell").await.is_err());
        assert!(start.elapsed() < Duration::from_secs(3));
    }
}
