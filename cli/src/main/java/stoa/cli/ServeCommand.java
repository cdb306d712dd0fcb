package stoa.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
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

/// Serves a store to clients until the process is told to end.
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Serves a store: programs open it with the URL stoa://HOST:PORT.",
      "Ends when it is told to (Ctrl-C), after what is under way."
    })
final class ServeCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the store, or memory: for one that is lost at the end.")
  private String data = "";

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      defaultValue = "127.0.0.1:7337",
      description = "Where to listen (default: ${DEFAULT-VALUE}); port 0 for any that is free.")
  private String listen = "";

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      defaultValue = "",
      description = "Jar files and directories of your shared classes and values.")
  private String classPath = "";

  @Option(
      names = "--type",
      paramLabel = "CLASS",
      description = "A value class that may travel and that no shared class names. Repeatable.")
  private List<String> types = new ArrayList<>();

  @Option(
      names = "--tls-certificate",
      paramLabel = "FILE",
      description = "The server's certificates in PEM.")
  private @Nullable Path certificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The private key of the certificate in PEM.")
  private @Nullable Path key;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with what clients must tell to be let in.")
  private @Nullable Path token;

  @Option(
      names = "--insecure",
      description = "Listen on an address that others reach, without certificate or token.")
  private boolean insecure;

  private ServeCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    ServerConfig config = config();
    try (var classes = UserClasses.open(path(), told -> err.println("stoa: " + told))) {
      // By it the store finds the classes of its objects.
      Thread.currentThread().setContextClassLoader(classes);
      String url = data.equals("memory:") ? data : "file:" + data;
      var store = StoaConfig.of(url).withTypes(types(classes));
      var service =
          ObjectService.open(store, type -> Objects.equals(type.getClassLoader(), classes));
      Server server = started(config, service);
      Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stoa-stop"));
      out.println("listening on " + config.host() + ":" + server.port());
      server.awaitClosed();
    }
    return 0;
  }

  private static Server started(ServerConfig config, ObjectService service) throws IOException {
    try {
      return Server.start(config, service);
    } catch (IOException | RuntimeException failed) {
      service.close();
      throw failed;
    }
  }

  private ServerConfig config() throws IOException {
    int colon = listen.lastIndexOf(':');
    if (colon <= 0) throw new IllegalArgumentException("--listen " + listen + " is no HOST:PORT");
    String host = listen.substring(0, colon);
    ServerConfig config;
    try {
      config = ServerConfig.of(host, Integer.parseInt(listen.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--listen " + listen + " has no port number", e);
    }
    Path chain = certificate;
    Path secret = key;
    boolean secured = chain != null && secret != null && token != null;
    if (!secured && !insecure && !InetAddress.getByName(host).isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "others reach "
              + host
              + "; give --tls-certificate, --tls-key and --token-file, or say --insecure");
    }
    if (chain != null && secret != null) config = config.withTls(chain, secret);
    else if (chain != null || secret != null) {
      throw new IllegalArgumentException("--tls-certificate and --tls-key go together");
    }
    return token == null ? config : config.withToken(ServerLink.token(token));
  }

  private List<Path> path() {
    return Arrays.stream(classPath.split(File.pathSeparator))
        .filter(one -> !one.isEmpty())
        .map(Path::of)
        .toList();
  }

  private List<Class<?>> types(ClassLoader classes) {
    var found = new ArrayList<Class<?>>();
    for (String name : types) {
      try {
        found.add(Class.forName(name, false, classes));
      } catch (ClassNotFoundException e) {
        throw new IllegalArgumentException(
            "--type " + name + " is not on the class path; add its jar file to --classpath", e);
      }
    }
    return found;
  }
}
