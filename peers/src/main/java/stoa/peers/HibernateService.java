package stoa.peers;

import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jspecify.annotations.Nullable;
import stoa.stacksync.Chunk;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemVersion;
import stoa.stacksync.Metadata;
import stoa.stacksync.NotFound;
import stoa.stacksync.NotPermitted;
import stoa.stacksync.Quota;
import stoa.stacksync.Status;

/// StackSync on PostgreSQL with the rules of a commit in the client, on entities of Hibernate.
/// Other requests are the functions of [SqlService].
///
/// Thread-safe, except for [#close()].
final class HibernateService extends SqlService implements AutoCloseable {
  private final List<SessionFactory> factories = new ArrayList<>();

  // Its own pool refuses a caller that finds no connection; these wait.
  private final Semaphore turns;

  /// @param servers the databases, in the order of the shards
  /// @param connections how many connections to each Hibernate may open
  HibernateService(List<ConnectionPool> shards, List<PostgresServer> servers, int connections) {
    super(shards);
    turns = new Semaphore(connections);
    for (var server : servers) {
      var configuration = new Configuration();
      for (var entity :
          List.of(
              UserEntity.class,
              DeviceEntity.class,
              WorkspaceEntity.class,
              MemberEntity.class,
              ItemEntity.class,
              VersionEntity.class)) {
        configuration.addAnnotatedClass(entity);
      }
      configuration.setProperty("hibernate.connection.url", server.url());
      configuration.setProperty("hibernate.connection.username", server.user());
      configuration.setProperty("hibernate.connection.password", "");
      configuration.setProperty("hibernate.connection.pool_size", String.valueOf(connections));
      configuration.setProperty("hibernate.jdbc.batch_size", "50");
      configuration.setProperty("hibernate.order_inserts", "true");
      configuration.setProperty("hibernate.order_updates", "true");
      factories.add(configuration.buildSessionFactory());
    }
  }

  // ---- the entities

  /// A user.
  @Entity
  @Table(name = "user1")
  static class UserEntity {
    @Id
    @Column(name = "id")
    @Nullable UUID id;

    @Column(name = "quota_limit")
    long quotaLimit;

    @Column(name = "quota_used")
    long quotaUsed;
  }

  /// A device.
  @Entity
  @Table(name = "device")
  static class DeviceEntity {
    @Id
    @Column(name = "id")
    @Nullable UUID id;

    @Column(name = "user_id")
    @Nullable UUID userId;
  }

  /// A workspace.
  @Entity
  @Table(name = "workspace")
  static class WorkspaceEntity {
    @Id
    @Column(name = "id")
    @Nullable UUID id;

    @Column(name = "owner_id")
    @Nullable UUID ownerId;
  }

  /// A membership.
  @Entity
  @Table(name = "workspace_user")
  static class MemberEntity {
    @EmbeddedId @Nullable MemberKey key;
  }

  /// The key of a membership.
  @Embeddable
  record MemberKey(
      @Column(name = "workspace_id") UUID workspace, @Column(name = "user_id") UUID user) {}

  /// An item.
  @Entity(name = "StackSyncItem")
  @Table(name = "item")
  static class ItemEntity {
    @EmbeddedId @Nullable ItemKey key;

    @Column(name = "latest_version")
    int latestVersion;

    @Column(name = "parent")
    long parent;

    @Column(name = "folder")
    boolean folder;

    @Column(name = "deleted")
    boolean deleted;

    @Column(name = "size")
    long size;
  }

  /// The key of an item.
  @Embeddable
  record ItemKey(@Column(name = "workspace_id") UUID workspace, @Column(name = "id") long item) {}

  /// A version.
  @Entity
  @Table(name = "item_version")
  static class VersionEntity {
    @EmbeddedId @Nullable VersionKey key;

    @Column(name = "device_id")
    @Nullable UUID device;

    @Column(name = "committed_at")
    long committedAt;

    @Column(name = "status")
    String status = "";

    @Column(name = "parent")
    long parent;

    @Column(name = "name")
    String name = "";

    @Column(name = "folder")
    boolean folder;

    @Column(name = "mime")
    String mime = "";

    @Column(name = "size")
    long size;

    @Column(name = "checksum")
    long checksum;

    @Column(name = "modified_at")
    long modifiedAt;

    @ElementCollection
    @CollectionTable(
        name = "item_version_chunk",
        joinColumns = {
          @JoinColumn(name = "workspace_id", referencedColumnName = "workspace_id"),
          @JoinColumn(name = "item_id", referencedColumnName = "item_id"),
          @JoinColumn(name = "version", referencedColumnName = "version")
        })
    @OrderColumn(name = "chunk_order")
    @Column(name = "fingerprint")
    List<String> chunks = new ArrayList<>();
  }

  /// The key of a version.
  @Embeddable
  record VersionKey(
      @Column(name = "workspace_id") UUID workspace,
      @Column(name = "item_id") long item,
      @Column(name = "version") int version) {}

  // ---- commits

  @Override
  public List<CommitInfo> doCommit(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    requireDistinct(changes);
    var factory = factories.get(Math.floorMod(user.hashCode(), factories.size()));
    turns.acquireUninterruptibly();
    try {
      return factory.fromTransaction(session -> commit(session, user, device, workspace, changes));
    } finally {
      turns.release();
    }
  }

  private static List<CommitInfo> commit(
      Session session, UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    var known = session.find(DeviceEntity.class, device);
    if (known == null) throw new NotFound("there is no device " + device);
    if (!user.equals(known.userId)) {
      throw new NotPermitted("device " + device + " belongs to user " + known.userId);
    }
    var place = session.find(WorkspaceEntity.class, workspace, LockModeType.PESSIMISTIC_WRITE);
    if (place == null) throw new NotFound("there is no workspace " + workspace);
    if (session.find(MemberEntity.class, new MemberKey(workspace, user)) == null) {
      throw new NotPermitted("user " + user + " is not a member of workspace " + workspace);
    }
    var owner =
        Objects.requireNonNull(
            session.find(UserEntity.class, place.ownerId, LockModeType.PESSIMISTIC_WRITE));
    var outcome =
        RowRules.commit(
            changes,
            new Entities(session, device, workspace, micros(Instant.now())),
            new Quota(owner.quotaLimit, owner.quotaUsed));
    owner.quotaUsed = outcome.quota().usedBytes();
    return outcome.answers();
  }

  /// The entities of a workspace, in a session.
  private record Entities(Session session, UUID device, UUID workspace, long now)
      implements RowRules.Rows<RuntimeException> {
    @Override
    public Optional<RowRules.Row> find(long item) {
      var found = session.find(ItemEntity.class, new ItemKey(workspace, item));
      return Optional.ofNullable(found)
          .map(each ->
              new RowRules.Row(
                  each.latestVersion, each.parent, each.folder, each.deleted, each.size));
    }

    @Override
    public boolean holdsItems(long folder) {
      return session
              .createSelectionQuery(
                  "select count(i) from StackSyncItem i where i.key.workspace ="
                      + " :workspace and i.parent = :folder and i.deleted = false",
                  Long.class)
              .setParameter("workspace", workspace)
              .setParameter("folder", folder)
              .getSingleResult()
          > 0;
    }

    @Override
    public ItemVersion version(long item, int version) {
      var found =
          Objects.requireNonNull(
              session.find(VersionEntity.class, new VersionKey(workspace, item, version)));
      var metadata =
          new Metadata(
              Status.valueOf(found.status),
              found.parent,
              found.name,
              found.folder,
              found.mime,
              found.size,
              found.checksum,
              found.chunks.stream().map(Chunk::new).toList(),
              instant(found.modifiedAt));
      return new ItemVersion(
          version, metadata, Objects.requireNonNull(found.device), instant(found.committedAt));
    }

    @Override
    public void write(ItemChange change, boolean first) {
      var metadata = change.metadata();
      var item =
          first
              ? new ItemEntity()
              : Objects.requireNonNull(
                  session.find(ItemEntity.class, new ItemKey(workspace, change.item())));
      item.latestVersion = change.version();
      item.parent = metadata.parent();
      item.folder = metadata.folder();
      item.deleted = metadata.deleted();
      item.size = metadata.sizeBytes();
      if (first) {
        item.key = new ItemKey(workspace, change.item());
        session.persist(item);
      }
      var version = new VersionEntity();
      version.key = new VersionKey(workspace, change.item(), change.version());
      version.device = device;
      version.committedAt = now;
      version.status = metadata.status().name();
      version.parent = metadata.parent();
      version.name = metadata.name();
      version.folder = metadata.folder();
      version.mime = metadata.mimeType();
      version.size = metadata.sizeBytes();
      version.checksum = metadata.checksum();
      version.modifiedAt = micros(metadata.modifiedAt());
      version.chunks = new ArrayList<>(metadata.chunks().stream().map(Chunk::fingerprint).toList());
      session.persist(version);
    }
  }

  @Override
  public void close() {
    factories.forEach(SessionFactory::close);
  }
}
