package stoa;

import java.util.List;
import java.util.Objects;
import java.util.Set;

/// How to open a store.
///
/// @param url the place of the store: `memory:`, `file:DIRECTORY` or `stoa://HOST:PORT`. The last
///   is a server; the client tries several addresses, `stoa://HOST:PORT,HOST:PORT`, in turn, and
///   waits for the first that answers as long as `?wait=60s` says, or [Limits#callTimeMax()]. For a
///   store in this process the URL may end with its layout, which is fixed at its creation:
///   `?shards=4` for four shards, each in a directory of its own, over which objects spread;
///   `?shards=4&copies=full` to keep everything in two of them, so that the store restores a lost
///   shard from the others; such a store has no [Blob]s
/// @param types classes that may travel as values or in fields though no declared field, parameter
///   or result of a shared class names them, such as subclasses. Stoa refuses other classes
/// @param limits the bounds within which it works. A server has its own limits. Of a client's,
///   [Limits#callTimeMax()], [Limits#callBytesMax()], [Limits#blobBytesMax()] and those of
///   transactions count where they are lower; [Limits#queuedCallsMax()] bounds the calls that wait
///   to be sent, [Limits#residentBytesMax()] local and cached views, and [Limits#closeTimeMax()]
///   the closing
/// @param keep how much of the past the store keeps; a server has its own setting
/// @param security how a client and its server authenticate each other
/// @param membership how a client takes part in the migration of objects
/// @param accepted losses that changed classes may cause, such as `shop.Cart.note removed`, in the
///   words of the [NotShareable] that refused a class. Opening the store refuses a loss that is
///   none, and the first use of a class refuses one that the class does not cause. The store keeps
///   the losses that it has accepted. For a store in this process; a server accepts losses by
///   `./stoa deploy --accept`
public record StoaConfig(
    String url,
    List<Class<?>> types,
    Limits limits,
    Keep keep,
    ConnectionSecurity security,
    TreeMembership membership,
    Set<String> accepted) {
  private static final long MEMORY_VERSIONS = 1_000;

  public StoaConfig {
    Objects.requireNonNull(url, "url");
    types = List.copyOf(types);
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(keep, "keep");
    Objects.requireNonNull(security, "security");
    Objects.requireNonNull(membership, "membership");
    accepted = Set.copyOf(accepted);
    if (membership instanceof TreeMembership.Inner inner
        && (inner.certificate() == null) != (security.certificate() == null)) {
      throw new IllegalArgumentException(
          "connections to the server are "
              + (security.certificate() == null
                  ? "not encrypted, and those"
                  : "encrypted, and none")
              + " to this inner node of the tree are; give both a certificate, by withSecurity and"
              + " TreeMembership.Inner.withTls, or neither, or let it be TreeMembership.leaf()");
    }
  }

  /// Returns the standard configuration for a URL: a `memory:` store keeps the last 1000 versions
  /// of its objects, any other store keeps everything.
  public static StoaConfig of(String url) {
    boolean memory = url.regionMatches(true, 0, "memory:", 0, 7);
    Keep keep = memory ? Keep.versions(MEMORY_VERSIONS) : Keep.all();
    return new StoaConfig(
        url,
        List.of(),
        Limits.standard(),
        keep,
        ConnectionSecurity.none(),
        TreeMembership.leaf(),
        Set.of());
  }

  /// Returns this configuration with another URL.
  public StoaConfig withUrl(String value) {
    return new StoaConfig(value, types, limits, keep, security, membership, accepted);
  }

  /// Returns this configuration with other [#types()].
  public StoaConfig withTypes(List<Class<?>> value) {
    return new StoaConfig(url, value, limits, keep, security, membership, accepted);
  }

  /// Returns this configuration with other [#limits()].
  public StoaConfig withLimits(Limits value) {
    return new StoaConfig(url, types, value, keep, security, membership, accepted);
  }

  /// Returns this configuration with another [#keep()].
  public StoaConfig withKeep(Keep value) {
    return new StoaConfig(url, types, limits, value, security, membership, accepted);
  }

  /// Returns this configuration with another [#security()].
  public StoaConfig withSecurity(ConnectionSecurity value) {
    return new StoaConfig(url, types, limits, keep, value, membership, accepted);
  }

  /// Returns this configuration with another [#membership()].
  public StoaConfig withMembership(TreeMembership value) {
    return new StoaConfig(url, types, limits, keep, security, value, accepted);
  }

  /// Returns this configuration with other [#accepted()] losses.
  public StoaConfig withAccepted(Set<String> value) {
    return new StoaConfig(url, types, limits, keep, security, membership, value);
  }

  /// Returns the part of the URL before its first colon, in lower case.
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
