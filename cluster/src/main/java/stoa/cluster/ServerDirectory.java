package stoa.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Name;
import stoa.base.Secret;
import stoa.log.Replica;
import stoa.raft.GroupId;
import stoa.raft.NodeConfig;
import stoa.raft.node.MicroRaft;
import stoa.storage.Device;

/// The directory of one of several servers of a store, while that server does not run: what it is,
/// and how it begins with contents or goes on alone. Stateless.
public final class ServerDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(ServerDirectory.class);

  private ServerDirectory() {}

  /// Returns whether a directory belongs to a server that keeps its store together with others.
  ///
  /// @throws stoa.Corrupt when that cannot be read
  public static boolean was(Path directory) {
    return Membership.read(directory) != null;
  }

  /// Returns whether a directory belongs to a server whose store has no secret, because an earlier
  /// version began it.
  ///
  /// @throws stoa.Corrupt when that cannot be read
  public static boolean hasNoSecret(Path directory) {
    return was(directory) && !Files.exists(directory.resolve(SecretFile.NAME));
  }

  /// Makes the server of a directory keep the store alone from now on, because most of the others
  /// are lost for good: its data becomes the store, and what only the lost ones had is lost. It
  /// must not run during this. Afterwards it starts, and others join it, as usual. The lost servers
  /// are strangers to it, and must not be started again.
  ///
  /// @return its name
  /// @throws IllegalArgumentException when the directory is not that of one of several servers, or
  ///   lacks a group of the store
  /// @throws StoaException when it cannot be read, or the server runs
  public static String goOnAlone(Path directory) {
    Membership noted = Membership.read(directory);
    StoreProperties known = noted == null ? null : noted.storeProperties();
    if (noted == null || known == null) {
      throw new IllegalArgumentException(
          directory + " is of no server that keeps its store with others");
    }
    if (noted.hosts().size() < known.groups()) {
      throw new IllegalArgumentException(
          directory
              + " has the groups "
              + noted.hosts().keySet()
              + " of the store's "
              + known.groups()
              + "; take a server that has all of them");
    }
    var config = NodeConfig.of(noted.name(), directory.resolve("log"));
    for (int group : noted.hosts().keySet()) {
      Path device = replica(directory, group);
      try (var replica = new Replica(HostedGroup.device(Machine.real(), device))) {
        if (!replica.isWhole()) {
          throw new Unavailable(
              directory
                  + " is of a server that was being brought level by another one, and has a part"
                  + " only; take another server's");
        }
        var reached =
            new MicroRaft().continueAlone(config, new GroupId(known.store(), group), replica);
        if (reached.index() == 0) {
          throw new Unavailable(
              directory + " has nothing of group " + group + "; take another server's");
        }
        LOG.info("server {} continues alone with group {}, as of {}", noted.name(), group, reached);
      }
    }
    noted.left().write(directory);
    return noted.name();
  }

  /// Returns the directory of the replica of a group, in that of a server.
  public static Path replica(Path directory, int group) {
    return directory.resolve("replica-" + group);
  }

  /// The first server of a store whose contents are there already.
  ///
  /// @param name its name among the others
  /// @param host where the others reach it
  /// @param port its port, 0 for any
  /// @param groups how many groups keep the store
  /// @param replicas how many servers should execute the calls of each group
  /// @param secret of the servers; null for a new one
  public record First(
      String name, String host, int port, int groups, int replicas, @Nullable Secret secret) {}

  /// Checks the values of [#restore], before anything is written.
  ///
  /// @throws IllegalArgumentException when one is invalid, or this process has too little memory
  ///   for the groups
  public static void requireRestorable(First first) {
    Name.checked("a server", first.name());
    var _ = new StoreProperties(0, first.groups(), first.replicas());
    GroupMemory.require(first.groups(), Runtime.getRuntime().maxMemory());
  }

  /// Makes the directory of the first server of a store out of devices with contents: of a restored
  /// backup, or of a server that kept the store alone. The store gets a new identity; afterwards
  /// the server starts, and others join it, as usual.
  ///
  /// @param directory has a device for each group, see [#replica], and nothing else of a server
  /// @throws IllegalArgumentException when a value is invalid
  /// @throws StoaException when it cannot be written
  public static void restore(Path directory, First first) {
    Name.checked("a server", first.name());
    var storeProperties =
        new StoreProperties(new SecureRandom().nextLong(), first.groups(), first.replicas());
    var hosts = new TreeMap<Integer, Membership.Start>();
    for (int group = 0; group < first.groups(); group++) {
      try (Device device = HostedGroup.device(Machine.real(), replica(directory, group))) {
        Replica.adopt(device);
      }
      hosts.put(group, Membership.Start.LEFT);
    }
    Secret given = first.secret();
    SecretFile.write(directory, given == null ? SecretFile.make() : given);
    new Membership(first.name(), first.host(), first.port(), 0, storeProperties, hosts)
        .write(directory);
  }

  /// Returns the secret by which this server proves itself, which its directory has from now on.
  static @Nullable Secret secret(ClusterOptions options, @Nullable Membership before) {
    Path directory = options.directory();
    Secret here = SecretFile.in(directory);
    Secret told = options.secret();
    if (here != null && told != null && !here.isSame(told)) {
      throw new IllegalArgumentException(
          "the secret that is given differs from that in "
              + directory.resolve(SecretFile.NAME)
              + ", which all servers of the store have; start this server without --secret");
    }
    if (here != null) return here;
    if (told == null && before != null) {
      LOG.warn(
          "{} has no secret of the servers, as stores of earlier versions: everyone who can connect"
              + " to the ports between the servers can read and delete the store. Stop all servers,"
              + " put the same {} into the directory of each, and start them again; see ./stoa help"
              + " serve",
          directory,
          SecretFile.NAME);
      return null;
    }
    if (told == null && options.join() != null) {
      throw new IllegalArgumentException(
          "--join needs the secret of the servers; give --secret FILE with a copy of "
              + SecretFile.NAME
              + ", which is in the data directory of each server");
    }
    Secret first = told == null ? SecretFile.make() : told;
    SecretFile.write(directory, first);
    return first;
  }
}
