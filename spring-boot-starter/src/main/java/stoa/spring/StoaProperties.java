package stoa.spring;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import stoa.ConnectionSecurity;
import stoa.Keep;
import stoa.Limits;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.TxOptions;

/// The properties `stoa.*`. An absent one has the default of [StoaConfig#of] and of
/// [TxOptions#STANDARD].
///
/// @param url Place of the store, one of memory:, file:DIRECTORY and stoa://HOST:PORT.
/// @param types Classes that may travel though no declaration of a shared class names them.
/// @param limits Bounds within which the store works.
/// @param keep How much of the past a store in this process keeps.
/// @param security How a client and its server authenticate each other.
/// @param membership How a client takes part in the migration of objects.
/// @param transaction Limits of transactions of the StoaTransactionTemplate.
/// @param scan Check of the shared classes at the start.
/// @param health Health of the store.
@ConfigurationProperties("stoa")
public record StoaProperties(
    @Nullable String url,
    @DefaultValue List<Class<?>> types,
    @DefaultValue Bounds limits,
    @DefaultValue Past keep,
    @DefaultValue Security security,
    @DefaultValue Membership membership,
    @DefaultValue Transaction transaction,
    @DefaultValue Scan scan,
    @DefaultValue Health health) {

  /// The properties `stoa.limits.*`, see [Limits].
  ///
  /// @param callTimeMax How long one call may take, waiting included.
  /// @param callBytesMax Encoded size of the arguments, or of the answer, of one call.
  /// @param queuedCallsMax Accepted calls without an answer.
  /// @param residentBytesMax Encoded size of the objects in memory, or of local and cached views.
  /// @param memoryBytesMax Size of the log of a store in memory.
  /// @param blobBytesMax Bytes of one read or write of a blob.
  /// @param nestingMax How deep calls of objects on objects may go.
  /// @param transactionObjectsMax How many objects a transaction reads and writes.
  /// @param transactionBytesMax Encoded size of the calls of a transaction.
  /// @param closeTimeMax How long the application waits for calls in progress when it stops.
  public record Bounds(
      @Nullable Duration callTimeMax,
      @Nullable DataSize callBytesMax,
      @Nullable Integer queuedCallsMax,
      @Nullable DataSize residentBytesMax,
      @Nullable DataSize memoryBytesMax,
      @Nullable DataSize blobBytesMax,
      @Nullable Integer nestingMax,
      @Nullable Integer transactionObjectsMax,
      @Nullable DataSize transactionBytesMax,
      @Nullable Duration closeTimeMax) {
    private Limits limits() {
      Limits limits = Limits.standard();
      if (callTimeMax != null) limits = limits.withCallTimeMax(callTimeMax);
      if (callBytesMax != null) {
        limits = limits.withCallBytesMax(bytes("call-bytes-max", callBytesMax));
      }
      if (queuedCallsMax != null) limits = limits.withQueuedCallsMax(queuedCallsMax);
      if (residentBytesMax != null) {
        limits = limits.withResidentBytesMax(residentBytesMax.toBytes());
      }
      if (memoryBytesMax != null) limits = limits.withMemoryBytesMax(memoryBytesMax.toBytes());
      if (blobBytesMax != null) {
        limits = limits.withBlobBytesMax(bytes("blob-bytes-max", blobBytesMax));
      }
      if (nestingMax != null) limits = limits.withNestingMax(nestingMax);
      if (transactionObjectsMax != null) {
        limits = limits.withTransactionObjectsMax(transactionObjectsMax);
      }
      if (transactionBytesMax != null) {
        limits =
            limits.withTransactionBytesMax(bytes("transaction-bytes-max", transactionBytesMax));
      }
      return closeTimeMax == null ? limits : limits.withCloseTimeMax(closeTimeMax);
    }

    private static int bytes(String name, DataSize size) {
      if (size.toBytes() <= Integer.MAX_VALUE) return (int) size.toBytes();
      throw new IllegalArgumentException(
          "stoa.limits." + name + " is " + size + "; it must be less than 2GB");
    }
  }

  /// The properties `stoa.keep.*`, see [Keep].
  ///
  /// @param versions How many versions of each object before the last one.
  /// @param age How long versions are kept.
  public record Past(@Nullable Long versions, @Nullable Duration age) {
    public Past {
      if (versions != null && age != null) {
        throw new IllegalArgumentException(
            "stoa.keep.versions is " + versions + " and stoa.keep.age is " + age + "; set one");
      }
    }

    private Keep keep(Keep otherwise) {
      if (versions != null) return Keep.versions(versions);
      return age != null ? Keep.age(age) : otherwise;
    }
  }

  /// The properties `stoa.security.*`, see [ConnectionSecurity].
  ///
  /// @param certificate PEM file with the certificate of the server, or the one that signed it.
  /// @param token Token that the server asks for.
  /// @param tokenFile File whose first word is that token; it is read for each connection.
  /// @param ownCertificate PEM file with the certificates that the application shows.
  /// @param ownKey PEM file with their private key.
  public record Security(
      @Nullable Path certificate,
      @Nullable String token,
      @Nullable Path tokenFile,
      @Nullable Path ownCertificate,
      @Nullable Path ownKey) {
    private ConnectionSecurity security() {
      return new ConnectionSecurity(certificate, token, tokenFile, ownCertificate, ownKey);
    }

    /// Omits the token.
    @Override
    public String toString() {
      return security().toString();
    }
  }

  /// The properties `stoa.membership.*`, see [TreeMembership].
  ///
  /// @param locality Place of the process, from the widest to the narrowest, such as
  ///   eu-west/rack-3.
  public record Membership(@Nullable String locality) {
    private TreeMembership membership() {
      TreeMembership.Leaf leaf = TreeMembership.leaf();
      return locality == null ? leaf : leaf.at(locality);
    }
  }

  /// The properties `stoa.transaction.*`, see [TxOptions].
  ///
  /// @param attemptsMax How often a body runs before the transaction is aborted.
  /// @param timeMax How long one attempt may take.
  /// @param totalTimeMax How long all attempts may take together.
  public record Transaction(
      @Nullable Integer attemptsMax, @Nullable Duration timeMax, @Nullable Duration totalTimeMax) {
    /// Returns the options of transactions.
    public TxOptions options() {
      TxOptions options = TxOptions.STANDARD;
      if (attemptsMax != null) options = options.withAttemptsMax(attemptsMax);
      if (timeMax != null) options = options.withTimeMax(timeMax);
      return totalTimeMax == null ? options : options.withTotalTimeMax(totalTimeMax);
    }
  }

  /// The properties `stoa.scan.*`, see [SharedTypes].
  ///
  /// @param enabled Whether the shared classes are checked at the start.
  /// @param packages Packages with shared classes; those of the application when empty.
  public record Scan(@DefaultValue("true") boolean enabled, @DefaultValue List<String> packages) {}

  /// The properties `stoa.health.*`, see [StoaHealthIndicator].
  ///
  /// @param timeMax How long the store may take to answer.
  /// @param readiness Whether the readiness group includes the health of the store.
  public record Health(
      @DefaultValue("2s") Duration timeMax, @DefaultValue("true") boolean readiness) {
    public Health {
      if (!timeMax.isPositive()) {
        throw new IllegalArgumentException(
            "stoa.health.time-max is " + timeMax + "; it must be positive");
      }
    }
  }

  /// Returns how to open the store.
  ///
  /// @throws StoaStartFailure when there is no URL
  public StoaConfig config() {
    if (url == null || url.isBlank()) {
      throw new StoaStartFailure(
          "The property stoa.url is not set, so that Stoa has no store.",
          "Set stoa.url to memory: or file:DIRECTORY for a store in this process, or to"
              + " stoa://HOST:PORT for one at a server.");
    }
    StoaConfig config = StoaConfig.of(url);
    return config
        .withTypes(types)
        .withLimits(limits.limits())
        .withKeep(keep.keep(config.keep()))
        .withSecurity(security.security())
        .withMembership(membership.membership());
  }
}
