package stoa.programs;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import stoa.ConnectionSecurity;

/// The options by which a command finds its server, and proves who it is. One thread uses it.
public final class ServerOptions {
  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      description = "The server. Default: ${DEFAULT-VALUE}")
  private String server = "127.0.0.1:7400";

  @Option(
      names = "--tls-certificate",
      paramLabel = "FILE",
      description = "The server's certificate, or the one that signed it, in PEM.")
  private @Nullable Path certificate;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with a token; of several lines, the first counts.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--client-certificate",
      paramLabel = "FILE",
      description = "The certificate that the command shows the server, in PEM.")
  private @Nullable Path ownCertificate;

  @Option(names = "--client-key", paramLabel = "FILE", description = "Its private key, in PEM.")
  private @Nullable Path ownKey;

  /// Creates them for what a user gives.
  public ServerOptions() {}

  /// Creates them for one server.
  public ServerOptions(String server, @Nullable Path certificate, @Nullable Path tokenFile) {
    this.server = server;
    this.certificate = certificate;
    this.tokenFile = tokenFile;
  }

  /// Sets the certificate that the command shows.
  ///
  /// @param shown the certificate, in PEM; null for none
  /// @param key its private key, in PEM; null for none
  public void show(@Nullable Path shown, @Nullable Path key) {
    ownCertificate = shown;
    ownKey = key;
  }

  /// Returns the server, HOST:PORT.
  public String server() {
    return server;
  }

  /// Returns the file with the token; null for none.
  public @Nullable Path tokenFile() {
    return tokenFile;
  }

  /// Returns the server and the files, for another process: an empty word for each that is not
  /// given.
  public List<String> words() {
    return List.of(server, word(certificate), word(tokenFile), word(ownCertificate), word(ownKey));
  }

  private static String word(@Nullable Path file) {
    return file == null ? "" : file.toString();
  }

  /// Returns the settings of the connection, without the token.
  ///
  /// @throws IllegalArgumentException when one option lacks another one
  public ConnectionSecurity security() {
    if ((ownCertificate == null) != (ownKey == null)) {
      throw new IllegalArgumentException(
          "--client-certificate and --client-key go together; give both");
    }
    if (ownKey != null && certificate == null) {
      throw new IllegalArgumentException(
          "--client-certificate needs --tls-certificate, which says what the server shows");
    }
    ConnectionSecurity security = ConnectionSecurity.none();
    if (certificate != null) security = ConnectionSecurity.trusting(certificate);
    return ownCertificate == null || ownKey == null
        ? security
        : security.withCertificate(ownCertificate, ownKey);
  }
}
