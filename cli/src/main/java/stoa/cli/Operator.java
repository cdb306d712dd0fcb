package stoa.cli;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import stoa.base.Permissions;
import stoa.wire.Frames;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.WhereRequest;

/// The options by which an operator's command finds its server.
public final class Operator {
  // Behind a token whose clients may deploy classes.
  private static final String DEPLOY = "deploy";

  private static final int ATTEMPTS = 10;
  private static final long LEADER_SECONDS = 3;

  private static final long WAIT_SECONDS = 60;

  // Other servers may have to fetch much from a server that drains.
  private static final long LONG_WAIT_SECONDS = 24 * 3_600;

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

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
      description = "A file with its token; of several lines, the first counts.")
  private @Nullable Path tokenFile;

  // The option that names the server.
  private final String option;

  /// Creates it for the options that a user gives.
  Operator() {
    option = "--server";
  }

  /// Creates it for one server.
  ///
  /// @param option the option that names it
  public Operator(
      String server, @Nullable Path certificate, @Nullable Path tokenFile, String option) {
    this.option = option;
    this.server = server;
    this.certificate = certificate;
    this.tokenFile = tokenFile;
  }

  /// Returns the arguments by which [Shell] opens the store.
  List<String> arguments() {
    return List.of(
        Shell.SERVER,
        server,
        certificate == null ? "" : certificate.toString(),
        tokenFile == null ? "" : tokenFile.toString());
  }

  /// Asks the server; of several that keep a store together, the leader of group 0.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T ask(Function<StoreGrpc.StoreBlockingStub, T> question) {
    return ask(0, WAIT_SECONDS, question);
  }

  /// Asks as [#ask(Function)], for a long operation. Asks again after a refusal, since the leader
  /// may have changed meanwhile.
  public <T> T insist(Function<StoreGrpc.StoreBlockingStub, T> question, Predicate<T> refused) {
    for (int attempt = 1; ; attempt++) {
      T answer = ask(0, LONG_WAIT_SECONDS, question);
      if (!refused.test(answer) || attempt == ATTEMPTS) return answer;
    }
  }

  /// Asks the server; of several that keep a store together, the leader of a group.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T ask(int group, Function<StoreGrpc.StoreBlockingStub, T> question) {
    return ask(group, WAIT_SECONDS, question);
  }

  /// Asks as [#ask(int, Function)], for an answer that comes at once or not at all.
  <T> T askBriefly(int group, Function<StoreGrpc.StoreBlockingStub, T> question) {
    return ask(group, LEADER_SECONDS, question);
  }

  /// Asks as [#ask(int, Function)], for a long operation.
  <T> T askLong(int group, Function<StoreGrpc.StoreBlockingStub, T> question) {
    return ask(group, LONG_WAIT_SECONDS, question);
  }

  /// A question with several messages in both directions.
  interface Conversation<T> {
    /// Asks a server.
    T with(StoreGrpc.StoreBlockingV2Stub server) throws StatusException, InterruptedException;
  }

  /// Asks the server; of several that keep a store together, the leader of a group. For a long
  /// operation that may be repeated.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  <T> T converse(int group, Conversation<T> question) {
    return ask(
        group,
        LONG_WAIT_SECONDS,
        server -> {
          var both =
              StoreGrpc.newBlockingV2Stub(server.getChannel())
                  .withDeadlineAfter(LONG_WAIT_SECONDS, TimeUnit.SECONDS);
          try {
            return question.with(both);
          } catch (StatusException failed) {
            throw failed.getStatus().asRuntimeException(failed.getTrailers());
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw Status.CANCELLED.withDescription("interrupted").asRuntimeException();
          }
        });
  }

  private <T> T ask(int group, long seconds, Function<StoreGrpc.StoreBlockingStub, T> question) {
    var where = WhereRequest.newBuilder().setGroup(group).build();
    Endpoint address = Endpoint.of(server);
    String leader =
        ask(
            address,
            LEADER_SECONDS,
            asked -> {
              try {
                return asked.where(where).getLeader();
              } catch (StatusRuntimeException unknown) {
                // None has it at the moment: the server answers with its own knowledge.
                if (unknown.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) return "";
                throw unknown;
              }
            });
    if (leader.isEmpty()) return ask(address, seconds, question);
    try {
      return ask(Endpoint.of(leader), seconds, question);
    } catch (IllegalArgumentException gone) {
      // The believed leader does not answer: the asked server reports that itself.
      return ask(address, seconds, question);
    }
  }

  /// Asks the server itself, whether it leads or not.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T askItself(Function<StoreGrpc.StoreBlockingStub, T> question) {
    return ask(Endpoint.of(server), LEADER_SECONDS, question);
  }

  /// Returns whether another server than the asked one answers; a hanging one does not.
  public boolean answers(String address) {
    try {
      var _ =
          ask(
              Endpoint.of(address),
              LEADER_SECONDS,
              asked -> asked.status(StatusRequest.getDefaultInstance()));
      return true;
    } catch (IllegalArgumentException silent) {
      return false;
    }
  }

  private <T> T ask(
      Endpoint address, long seconds, Function<StoreGrpc.StoreBlockingStub, T> question) {
    ManagedChannel channel = channel(address);
    try {
      return question.apply(
          StoreGrpc.newBlockingStub(channel).withDeadlineAfter(seconds, TimeUnit.SECONDS));
    } catch (StatusRuntimeException failed) {
      throw new IllegalArgumentException(
          address
              + " does not answer: "
              + reason(failed)
              + "; is it running, with TLS or without as is said here? See "
              + option,
          failed);
    } finally {
      channel.shutdownNow();
    }
  }

  private static String reason(StatusRuntimeException failed) {
    String told = failed.getStatus().getDescription();
    return told == null ? failed.getStatus().getCode().toString() : told;
  }

  private ManagedChannel channel(Endpoint address) {
    var builder =
        NettyChannelBuilder.forAddress(address.host(), address.port())
            .maxInboundMessageSize(Frames.BYTES_MAX);
    Path pem = certificate;
    Path token = tokenFile;
    try {
      if (pem == null) builder.usePlaintext();
      else builder.sslContext(GrpcSslContexts.forClient().trustManager(pem.toFile()).build());
      if (token != null) builder.intercept(new Showing(tokens(token).getFirst()));
    } catch (IOException e) {
      throw new IllegalArgumentException("the certificate or token: " + e.getMessage(), e);
    }
    return builder.build();
  }

  /// Returns the tokens in a private file, one a line.
  ///
  /// @throws IllegalArgumentException when the file is open to others, or has no token
  /// @throws IOException when it cannot be read
  static List<String> tokens(Path file) throws IOException {
    return lines(file).map(words -> words[0]).distinct().toList();
  }

  /// Returns those tokens in a private file behind which the word `deploy` stands.
  ///
  /// @throws IllegalArgumentException when the file is open to others, or has no token
  /// @throws IOException when it cannot be read
  static Set<String> deployTokens(Path file) throws IOException {
    return lines(file)
        .filter(words -> words.length > 1)
        .map(words -> words[0])
        .collect(Collectors.toSet());
  }

  private static Stream<String[]> lines(Path file) throws IOException {
    Permissions.requirePrivate(file);
    List<String[]> lines =
        Files.readString(file)
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .map(line -> line.split("\\s+"))
            .toList();
    if (lines.isEmpty()) {
      throw new IllegalArgumentException(file + " is empty; write a long random word into it");
    }
    for (String[] words : lines) {
      if (words.length == 1 || (words.length == 2 && words[1].equals(DEPLOY))) continue;
      throw new IllegalArgumentException(
          file
              + " has a line of "
              + words.length
              + " words; a line is a token, or a token and "
              + DEPLOY);
    }
    return lines.stream();
  }

  private static final class Showing implements ClientInterceptor {
    private final String token;

    private Showing(String token) {
      this.token = token;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          headers.put(AUTHORIZATION, "Bearer " + token);
          super.start(listener, headers);
        }
      };
    }
  }
}
