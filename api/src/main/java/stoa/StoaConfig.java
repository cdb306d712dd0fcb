package stoa;

import java.util.List;
import java.util.Objects;

/// How to open a store.
///
/// @param url where it is: `memory:`, `file:DIRECTORY` or `stoa://HOST:PORT`. The last is a server;
///   several addresses, `stoa://HOST:PORT,HOST:PORT`, are tried in turn. A store in this process
///   has behind that how it is laid out, which is fixed when it is made: `?shards=4` for four
///   shards, each in a directory of its own, among which objects are spread;
///   `?shards=4&copies=full` to keep everything in two of them, so that one that is lost is made
///   again of the others; such a store has no [Blob]s
/// @param types classes that may travel as values or in fields though no declared field, parameter
///   or result of a shared class names them: subclasses, mostly. Others are refused
/// @param limits the bounds within which it works. Those of a server are its own; of a client's
///   count [Limits#callTimeMax()], [Limits#callBytesMax()] and [Limits#blobBytesMax()] where they
///   are less, [Limits#queuedCallsMax()] for calls that wait to be sent,
///   [Limits#residentBytesMax()] for local and cached views, those of transactions, and
///   [Limits#closeTimeMax()]
/// @param keep how much of the past it keeps by itself; a server keeps what it was told when it was
///   started
/// @param security how a client and its server know each other
/// @param membership how a client takes part in the migration of objects
public record StoaConfig(
    String url,
    List<Class<?>> types,
    Limits limits,
    Keep keep,
    Security security,
    Membership membership) {
  private static final long MEMORY_VERSIONS = 1_000;

  public StoaConfig {
    Objects.requireNonNull(url, "url");
    types = List.copyOf(types);
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(keep, "keep");
    Objects.requireNonNull(security, "security");
    Objects.requireNonNull(membership, "membership");
    if (membership instanceof Membership.Inner inner
        && (inner.certificate() == null) != (security.certificate() == null)) {
      throw new IllegalArgumentException(
          "connections to the server are "
              + (security.certificate() == null
                  ? "not encrypted, and those"
                  : "encrypted, and none")
              + " to this inner node of the tree are; give both a certificate, by withSecurity and"
              + " Membership.Inner.withTls, or neither, or let it be Membership.leaf()");
    }
  }

  /// The standard configuration for a URL: a `memory:` store keeps the last 1000 versions of its
  /// objects, any other store keeps everything.
  public static StoaConfig of(String url) {
    boolean memory = url.regionMatches(true, 0, "memory:", 0, 7);
    Keep keep = memory ? Keep.versions(MEMORY_VERSIONS) : Keep.all();
    return new StoaConfig(
        url, List.of(), Limits.standard(), keep, Security.none(), Membership.leaf());
  }

  /// This configuration of a store somewhere else.
  public StoaConfig withUrl(String value) {
    return new StoaConfig(value, types, limits, keep, security, membership);
  }

  /// This configuration with other [#types()].
  public StoaConfig withTypes(List<Class<?>> value) {
    return new StoaConfig(url, value, limits, keep, security, membership);
  }

  /// This configuration with other [#limits()].
  public StoaConfig withLimits(Limits value) {
    return new StoaConfig(url, types, value, keep, security, membership);
  }

  /// This configuration with another [#keep()].
  public StoaConfig withKeep(Keep value) {
    return new StoaConfig(url, types, limits, value, security, membership);
  }

  /// This configuration with another [#security()].
  public StoaConfig withSecurity(Security value) {
    return new StoaConfig(url, types, limits, keep, value, membership);
  }

  /// This configuration with another [#membership()].
  public StoaConfig withMembership(Membership value) {
    return new StoaConfig(url, types, limits, keep, security, value);
  }

  /// The part of the URL before its first colon, in lower case.
  ///
  /// @throws IllegalArgumentException when there is none
  public String scheme() {
    int colon = url.indexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException(
          "\"" + url + "\" is not a store URL; use memory:, file:DIRECTORY or stoa://HOST:PORT");
    }
    return url.substring(0, colon).toLowerCase(java.util.Locale.ROOT);
  }
}
