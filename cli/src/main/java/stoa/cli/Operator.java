package stoa.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import stoa.ConnectionSecurity;
import stoa.Forbidden;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.access.IdentitySource;
import stoa.programs.ServerOptions;
import stoa.transport.Address;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.SingleRequests;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.WhereRequest;

/// The options by which an operator's command finds its server.
public final class Operator {
  private static final int ATTEMPTS = 10;

  // How many of them may find no leader. Each has waited for one.
  private static final int LEADERLESS_ATTEMPTS = 3;
  private static final long LEADER_SECONDS = 3;

  // The pause between two attempts.
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long WAIT_SECONDS = 60;

  // Other servers may have to fetch much from a server that drains.
  private static final long LONG_WAIT_SECONDS = 24 * 3_600;

  @Mixin private ServerOptions options = new ServerOptions();

  // A token that the caller gives in place of a file with one; null for none.
  private @Nullable String token;

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
    options = new ServerOptions(server, certificate, tokenFile);
  }

  /// Has it show a certificate.
  ///
  /// @param shown the certificate, in PEM; null for none
  /// @param key its private key, in PEM; null for none
  Operator showing(@Nullable Path shown, @Nullable Path key) {
    options.show(shown, key);
    return this;
  }

  /// Has it send a token.
  ///
  /// @param value null for none
  Operator sending(@Nullable String value) {
    token = value;
    return this;
  }

  /// Returns the arguments by which [Shell] opens the store.
  List<String> arguments() {
    var all = new ArrayList<>(List.of(Shell.SERVER));
    all.addAll(options.words());
    return List.copyOf(all);
  }

  /// Opens the store as a program does.
  ///
  /// @throws IllegalArgumentException when a file cannot be used
  Stoa open() {
    return Stoa.open(StoaConfig.of("stoa://" + options.server()).withSecurity(security()));
  }

  private ConnectionSecurity security() {
    ConnectionSecurity security = options.security();
    String word = token();
    return word == null ? security : security.withToken(word);
  }

  private @Nullable String token() {
    Path file = options.tokenFile();
    if (token != null || file == null) return token;
    try {
      return new IdentitySource.Tokens(file).tokens().getFirst();
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  /// Asks the server; of several that keep a store together, the leader of group 0.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T ask(Function<SingleRequests, T> question) {
    return ask(0, WAIT_SECONDS, question);
  }

  /// Asks as [#ask(Function)], for a long operation. Asks again after a refusal, since the leader
  /// may have changed meanwhile, and while no server leads, for half a minute.
  public <T> T insist(Function<SingleRequests, T> question, Predicate<T> refused) {
    for (int attempt = 1; ; attempt++) {
      try {
        T answer = ask(0, LONG_WAIT_SECONDS, question);
        if (!refused.test(answer) || attempt == ATTEMPTS) return answer;
      } catch (IllegalArgumentException failed) {
        if (!isUnavailable(failed) || attempt == ATTEMPTS) throw failed;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /// Returns whether no server answered that can do what was asked.
  private static boolean isUnavailable(IllegalArgumentException failed) {
    return failed.getCause() instanceof StatusException ended
        && ended.status().code() == Status.Code.UNAVAILABLE;
  }

  /// Asks the server; of several that keep a store together, the leader of a group.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T ask(int group, Function<SingleRequests, T> question) {
    return ask(group, WAIT_SECONDS, question);
  }

  /// Asks as [#ask(int, Function)], for an answer that comes at once or not at all.
  <T> T askBriefly(int group, Function<SingleRequests, T> question) {
    return ask(group, LEADER_SECONDS, 1, question);
  }

  /// Asks as [#ask(int, Function)], for a long operation.
  <T> T askLong(int group, Function<SingleRequests, T> question) {
    return ask(group, LONG_WAIT_SECONDS, question);
  }

  private <T> T ask(int group, long seconds, Function<SingleRequests, T> question) {
    return ask(group, seconds, LEADERLESS_ATTEMPTS, question);
  }

  private <T> T ask(int group, long seconds, int leaderless, Function<SingleRequests, T> question) {
    ListenAddress address = ListenAddress.of(options.server());
    for (int attempt = 1; ; attempt++) {
      String leader = leader(address, group);
      try {
        return ask(leader.isEmpty() ? address : ListenAddress.of(leader), seconds, question);
      } catch (IllegalArgumentException failed) {
        // It is gone, or does not lead yet or any more.
        if (!isUnavailable(failed)) throw failed;
        if (leader.isEmpty() && attempt >= leaderless) throw failed;
        // In the end, the asked server reports that itself.
        if (attempt == ATTEMPTS) return ask(address, seconds, question);
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /// Returns where the leader of a group is, as far as a server knows; or nothing.
  private String leader(ListenAddress address, int group) {
    var where = WhereRequest.newBuilder().setGroup(group).build();
    return ask(
        address,
        LEADER_SECONDS,
        asked -> {
          try {
            return asked.where(where).getLeader();
          } catch (StatusException unknown) {
            // None has it at the moment: the server answers with its own knowledge.
            if (unknown.status().code() == Status.Code.DEADLINE_EXCEEDED) return "";
            throw unknown;
          }
        });
  }

  /// Asks the server itself, whether it leads or not.
  ///
  /// @throws IllegalArgumentException with the remedy when that fails
  public <T> T askItself(Function<SingleRequests, T> question) {
    return ask(ListenAddress.of(options.server()), LEADER_SECONDS, question);
  }

  /// Returns whether another server than the asked one answers; a hanging one does not.
  public boolean answers(String address) {
    try {
      var _ =
          ask(
              ListenAddress.of(address),
              LEADER_SECONDS,
              asked -> asked.challenge(ChallengeRequest.getDefaultInstance()));
      return true;
    } catch (IllegalArgumentException silent) {
      return false;
    }
  }

  private <T> T ask(ListenAddress address, long seconds, Function<SingleRequests, T> question) {
    var to = new Address(address.host(), address.port());
    try {
      return SingleRequests.ask(security(), to, TimeUnit.SECONDS.toMillis(seconds), question);
    } catch (StatusException failed) {
      if (failed.status().code() == Status.Code.PERMISSION_DENIED) {
        throw new Forbidden(reason(failed));
      }
      throw new IllegalArgumentException(
          address
              + " does not answer: "
              + reason(failed)
              + "; is it running, with TLS or without as is said here? See "
              + option,
          failed);
    }
  }

  private static String reason(StatusException failed) {
    String told = failed.status().description();
    return told == null ? failed.status().code().toString() : told;
  }
}
