package stoa.cli;

import com.google.gson.JsonObject;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/// The log as one JSON object a line on the standard error, for SLF4J and for java.util.logging.
/// [#install] chooses it; otherwise slf4j-simple writes the log.
///
/// ```
/// {"time":"2026-01-01T00:00:00.000Z","level":"WARN","logger":"stoa.node.Server","thread":"main",
///  "message":"...","exception":"the stack trace, if there is one"}
/// ```
public final class JsonLogs implements SLF4JServiceProvider {
  private static final String PROVIDER = "slf4j.provider";
  private static final String VERBOSITY = "slf4j.internal.verbosity";

  private final Loggers loggers = new Loggers();
  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();

  /// For SLF4J.
  public JsonLogs() {}

  /// Has the process log so, from its first line on.
  static void install() {
    System.setProperty(PROVIDER, JsonLogs.class.getName());
    System.setProperty(VERBOSITY, "WARN"); // SLF4J otherwise tells of the choice, and not in JSON
    if (!(LoggerFactory.getILoggerFactory() instanceof Loggers)) {
      throw new IllegalStateException("the log was used before its format was chosen");
    }
    LogManager.getLogManager().reset();
    LogManager.getLogManager().getLogger("").addHandler(new Platform());
  }

  /// Writes a line.
  private static void write(
      PrintStream out,
      Instant time,
      String level,
      String logger,
      String message,
      @Nullable Throwable thrown) {
    var line = new JsonObject();
    line.addProperty("time", time.toString());
    line.addProperty("level", level);
    line.addProperty("logger", logger);
    line.addProperty("thread", Thread.currentThread().getName());
    line.addProperty("message", message);
    if (thrown != null) {
      var trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      line.addProperty("exception", trace.toString());
    }
    out.println(line);
  }

  /// The loggers by name, with the levels of simplelogger.properties.
  private static final class Loggers implements ILoggerFactory {
    private final ConcurrentHashMap<String, org.slf4j.Logger> known = new ConcurrentHashMap<>();

    @Override
    public org.slf4j.Logger getLogger(String name) {
      return known.computeIfAbsent(name, made -> new Json(made, least(made)));
    }

    /// Returns the least level that is written; null for none.
    private static @Nullable Level least(String name) {
      if (name.startsWith("io.microraft")) return null;
      return name.startsWith("stoa.cluster") ? Level.INFO : Level.WARN;
    }
  }

  private static final class Json extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;
    private final @Nullable Level least;

    private Json(String name, @Nullable Level least) {
      this.name = name;
      this.least = least;
    }

    private boolean writes(Level level) {
      return least != null && level.toInt() >= least.toInt();
    }

    @Override
    public boolean isTraceEnabled() {
      return writes(Level.TRACE);
    }

    @Override
    public boolean isDebugEnabled() {
      return writes(Level.DEBUG);
    }

    @Override
    public boolean isInfoEnabled() {
      return writes(Level.INFO);
    }

    @Override
    public boolean isWarnEnabled() {
      return writes(Level.WARN);
    }

    @Override
    public boolean isErrorEnabled() {
      return writes(Level.ERROR);
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level,
        @Nullable Marker marker,
        String pattern,
        @Nullable Object @Nullable [] arguments,
        @Nullable Throwable thrown) {
      String message = MessageFormatter.basicArrayFormat(pattern, arguments);
      write(System.err, Instant.now(), level.name(), getName(), message, thrown);
    }
  }

  /// The handler of java.util.logging, to which the JDK logs.
  private static final class Platform extends Handler {
    private final SimpleFormatter formatter = new SimpleFormatter();

    @Override
    public void publish(LogRecord record) {
      if (!isLoggable(record)) return;
      write(
          System.err,
          record.getInstant(),
          record.getLevel().getName(),
          String.valueOf(record.getLoggerName()),
          formatter.formatMessage(record),
          record.getThrown());
    }

    @Override
    public void flush() {
      System.err.flush();
    }

    @Override
    public void close() {}
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return loggers;
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}
}
