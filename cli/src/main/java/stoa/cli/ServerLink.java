package stoa.cli;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import stoa.Unavailable;
import stoa.wire.proto.StoreGrpc;

/// How commands reach a server: the options of these, and one question.
final class ServerLink {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int SECONDS_MAX = 10;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      defaultValue = "127.0.0.1:7337",
      description = "The server (default: ${DEFAULT-VALUE}).")
  private String server = "";

  @Option(
      names = "--tls-certificate",
      paramLabel = "FILE",
      description = "The certificates in PEM by which the server is known.")
  private @Nullable Path certificate;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "The file with what the server wants to be told.")
  private @Nullable Path token;

  private ServerLink() {}

  /// What is in a file with a token.
  static String token(Path file) throws IOException {
    return Files.readString(file).strip();
  }

  /// Asks the server.
  ///
  /// @throws Unavailable when it does not answer
  <A> A ask(Function<StoreGrpc.StoreBlockingStub, A> question) throws IOException {
    int colon = server.lastIndexOf(':');
    if (colon <= 0) throw new IllegalArgumentException("--server " + server + " is no HOST:PORT");
    int port;
    try {
      port = Integer.parseInt(server.substring(colon + 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--server " + server + " has no port number", e);
    }
    var builder = NettyChannelBuilder.forAddress(server.substring(0, colon), port);
    if (certificate == null) builder.usePlaintext();
    else builder.sslContext(GrpcSslContexts.forClient().trustManager(certificate.toFile()).build());
    if (token != null) {
      var headers = new Metadata();
      headers.put(AUTHORIZATION, "Bearer " + token(token));
      builder.intercept(MetadataUtils.newAttachHeadersInterceptor(headers));
    }
    ManagedChannel channel = builder.build();
    try {
      return question.apply(
          StoreGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS_MAX, TimeUnit.SECONDS));
    } catch (StatusRuntimeException failed) {
      throw new Unavailable(
          "the server at " + server + " does not answer: " + failed.getStatus(), failed);
    } finally {
      var _ = channel.shutdownNow();
    }
  }
}
