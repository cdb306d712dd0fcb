package stoa.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.weave.UserClasses;

/// `stoa serve`: a server of a store, until it is told to stop.
///
/// ```
/// listening on HOST:PORT     it is bound
/// ready                      it answers
/// ```
@Command(
    name = "serve",
    description = "Serves a store to clients that open stoa://HOST:PORT.",
    footer = {
      "",
      "It listens on this machine alone unless --listen says otherwise; other addresses need",
      "--tls-certificate, --tls-key and --token-file, or --insecure. Stop it with SIGTERM or Ctrl-C:",
      "it answers what is under way and closes the store."
    })
final class ServeCommand implements Callable<Integer> {
  /// A client that dies is no matter for whoever runs the server.
  private static final Logger NETWORK = Logger.getLogger("io.grpc");

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "Where the store is kept; memory: keeps it nowhere.")
  private String data = "";

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "The address to listen on; port 0 is any. Default: ${DEFAULT-VALUE}")
  private String listen = "127.0.0.1:7400";

  @Option(
      names = "--shards",
      paramLabel = "N",
      description = "How many shards a new store has. Default: ${DEFAULT-VALUE}")
  private int shards = 1;

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description =
          "Jar files and directories with the shared classes, joined by ${sys:path.separator}")
  private @Nullable String classpath;

  @Option(
      names = "--type",
      paramLabel = "CLASS",
      description = "A class that may travel though no shared class names it; may be repeated.")
  private List<String> types = new ArrayList<>();

  @Option(names = "--tls-certificate", paramLabel = "FILE", description = "Certificates, in PEM.")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Their private key, in PEM.")
  private @Nullable Path key;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with what clients must tell.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--insecure",
      description = "Listen on other machines' networks without TLS and token.")
  private boolean insecure;

  private ServeCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    NETWORK.setLevel(Level.SEVERE);
    ServerConfig config = config();
    ClassLoader loader = loader(err);
    Thread.currentThread().setContextClassLoader(loader);
    Server server =
        start(
            config,
            ObjectService.open(store(loader), type -> loader.equals(type.getClassLoader())));
    var closing = new Thread(server::close, "stoa-stop");
    Runtime.getRuntime().addShutdownHook(closing);
    out.println("listening on " + new Endpoint(config.host(), server.port()));
    out.println("ready");
    out.flush();
    server.awaitClosed();
    return 0;
  }

  private ServerConfig config() {
    Endpoint address = Endpoint.of(listen);
    boolean secured = certificate != null && key != null && tokenFile != null;
    if (!address.isLocal() && !secured && !insecure) {
      throw new IllegalArgumentException(
          address
              + " can be reached from other machines; give --tls-certificate, --tls-key and"
              + " --token-file, or --insecure if the network is trusted");
    }
    ServerConfig config = ServerConfig.of(address.host(), address.port());
    Path pem = certificate;
    Path secret = key;
    if ((pem == null) != (secret == null)) {
      throw new IllegalArgumentException("--tls-certificate and --tls-key go together; give both");
    }
    if (pem != null && secret != null) {
      config = config.withTls(readable(pem), readable(secret));
    }
    Path token = tokenFile;
    return token == null ? config : config.withToken(token(readable(token)));
  }

  private static Path readable(Path file) {
    if (Files.isReadable(file)) return file;
    throw new IllegalArgumentException(file + " is not there or cannot be read");
  }

  private static String token(Path file) {
    try {
      String token = Files.readString(file).strip();
      if (!token.isEmpty()) return token;
      throw new IllegalArgumentException(file + " is empty; write a long random word into it");
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private ClassLoader loader(PrintWriter err) {
    String path = classpath;
    if (path == null) return ServeCommand.class.getClassLoader();
    var files = new ArrayList<Path>();
    for (String file : path.split(File.pathSeparator, -1)) {
      if (!file.isEmpty()) files.add(Path.of(file));
    }
    return UserClasses.open(files, err::println);
  }

  private StoaConfig store(ClassLoader loader) {
    String url = data.equals("memory:") ? data : "file:" + data;
    if (shards > 1) url += "?shards=" + shards;
    var extra = new ArrayList<Class<?>>();
    for (String type : types) {
      try {
        extra.add(Class.forName(type, false, loader));
      } catch (ClassNotFoundException e) {
        throw new IllegalArgumentException(
            "--type " + type + ": there is no such class; put it on --classpath", e);
      }
    }
    return StoaConfig.of(url).withTypes(extra);
  }

  private static Server start(ServerConfig config, ObjectService service) {
    try {
      return Server.start(config, service);
    } catch (IOException | RuntimeException failed) {
      service.close();
      String address = new Endpoint(config.host(), config.port()).toString();
      Throwable cause = failed;
      while (cause != null && !(cause instanceof BindException)) cause = cause.getCause();
      String why = cause == null ? failed.getMessage() : cause.getMessage();
      throw new IllegalArgumentException(
          "cannot listen on "
              + address
              + ": "
              + why
              + "; is another server there? Choose another with --listen, port 0 for any",
          failed);
    }
  }
}
