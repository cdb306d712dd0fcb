package stoa.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/// Silences what the library of consensus logs: it tells many times of each server that a test
/// ends. A level that the test's own configuration sets stays. Thread-safe.
final class LibraryLogs {
  private static final String RAFT = "io.microraft";
  private static final String SIMPLE = "org.slf4j.simpleLogger.log." + RAFT;
  private static final String SIMPLE_FILE = "simplelogger.properties";
  private static final String LOGBACK = "ch.qos.logback.classic.Logger";

  // Held here: java.util.logging forgets loggers, with their levels, that nobody holds.
  private static final Logger JDK_RAFT = Logger.getLogger(RAFT);

  private LibraryLogs() {}

  /// Silences them, under SLF4J's simple provider, Logback and `java.util.logging`. Call it before
  /// the first class of the libraries, and again at each start and end of a server, because
  /// frameworks reset the levels of Logback.
  static void silence() {
    if (JDK_RAFT.getLevel() == null) JDK_RAFT.setLevel(Level.OFF);
    // The simple provider reads this when the library makes its loggers.
    if (System.getProperty(SIMPLE) == null && !isInSimpleFile()) System.setProperty(SIMPLE, "off");
    Object logger = LoggerFactory.getLogger(RAFT);
    if (logger.getClass().getName().equals(LOGBACK)) silenceLogback(logger);
  }

  private static boolean isInSimpleFile() {
    try (InputStream file = Loaders.ofTest().getResourceAsStream(SIMPLE_FILE)) {
      if (file == null) return false;
      var settings = new Properties();
      settings.load(file);
      return settings.containsKey(SIMPLE);
    } catch (IOException failed) {
      throw new UncheckedIOException(SIMPLE_FILE + " cannot be read", failed);
    }
  }

  private static void silenceLogback(Object logger) {
    try {
      var getLevel = logger.getClass().getMethod("getLevel");
      if (getLevel.invoke(logger) != null) return;
      Class<?> level = getLevel.getReturnType();
      var setLevel = logger.getClass().getMethod("setLevel", level);
      setLevel.invoke(logger, level.getField("OFF").get(null));
    } catch (ReflectiveOperationException changed) {
      throw new IllegalStateException("Logback has no levels of the known form", changed);
    }
  }
}
