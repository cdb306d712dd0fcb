-- StackSync on PostgreSQL: tables, and each request as a function. All data of a user, and of the
-- workspaces that the user owns, is in one shard. A function's first parameter, p_user, chooses it.
--
-- Errors have the codes SS400 (misuse), SS403 (not permitted) and SS404 (not found). The root of a
-- workspace is the parent -9223372036854775808. Times are microseconds since 1970.

create table user1 (
  id uuid primary key,
  name text not null,
  mail text not null unique,
  quota_limit bigint not null,
  quota_used bigint not null default 0
);

create table device (
  id uuid primary key,
  user_id uuid not null references user1 on delete cascade,
  added bigint generated always as identity,
  name text not null,
  os text not null
);
create index on device (user_id);

create table workspace (
  id uuid primary key,
  owner_id uuid not null references user1 on delete cascade,
  name text not null
);

create table workspace_user (
  workspace_id uuid references workspace on delete cascade,
  user_id uuid references user1 on delete cascade,
  added bigint generated always as identity,
  primary key (workspace_id, user_id)
);
create index on workspace_user (user_id);

-- An item as its latest version has it.
create table item (
  workspace_id uuid references workspace on delete cascade,
  id bigint,
  latest_version int not null,
  parent bigint not null,
  folder boolean not null,
  deleted boolean not null,
  size bigint not null,
  primary key (workspace_id, id)
);
create index on item (workspace_id, parent) where not deleted;

create table item_version (
  workspace_id uuid,
  item_id bigint,
  version int,
  device_id uuid not null,
  committed_at bigint not null,
  status text not null,
  parent bigint not null,
  name text not null,
  folder boolean not null,
  mime text not null,
  size bigint not null,
  checksum bigint not null,
  modified_at bigint not null,
  primary key (workspace_id, item_id, version),
  foreign key (workspace_id, item_id) references item on delete cascade
);

create table item_version_chunk (
  workspace_id uuid,
  item_id bigint,
  version int,
  chunk_order int,
  fingerprint text not null,
  primary key (workspace_id, item_id, version, chunk_order),
  foreign key (workspace_id, item_id, version) references item_version on delete cascade
);

-- Users, devices and workspaces

create function add_user(p_user uuid, p_name text, p_mail text, p_quota bigint)
returns boolean language plpgsql as $$
declare
  holder uuid;
begin
  if exists (select from user1 where id = p_user) then
    return false;
  end if;
  insert into user1 (id, name, mail, quota_limit) values (p_user, p_name, p_mail, p_quota)
  on conflict do nothing;
  select id into holder from user1 where mail = p_mail;
  if holder <> p_user then
    raise exception 'the mail address % belongs to user %', p_mail, holder using errcode = 'SS403';
  end if;
  return true;
end $$;

create function require_user(p_user uuid) returns void language plpgsql as $$
begin
  if not exists (select from user1 where id = p_user) then
    raise exception 'there is no user %; addUser adds one', p_user using errcode = 'SS404';
  end if;
end $$;

create function add_device(p_user uuid, p_device uuid, p_name text, p_os text)
returns boolean language plpgsql as $$
declare
  holder uuid;
begin
  perform require_user(p_user);
  insert into device (id, user_id, name, os) values (p_device, p_user, p_name, p_os)
  on conflict (id) do update set name = p_name, os = p_os where device.user_id = p_user;
  select user_id into holder from device where id = p_device;
  if holder <> p_user then
    raise exception 'device % belongs to user %', p_device, holder using errcode = 'SS403';
  end if;
  return true;
end $$;

create function add_workspace(p_user uuid, p_workspace uuid, p_name text)
returns boolean language plpgsql as $$
declare
  holder uuid;
  added int;
begin
  perform require_user(p_user);
  insert into workspace values (p_workspace, p_user, p_name) on conflict do nothing;
  get diagnostics added = row_count;
  select owner_id into holder from workspace where id = p_workspace;
  if holder <> p_user then
    raise exception 'workspace % belongs to user %', p_workspace, holder using errcode = 'SS403';
  end if;
  insert into workspace_user (workspace_id, user_id) values (p_workspace, p_user)
  on conflict do nothing;
  return added = 1;
end $$;

create function require_workspace(p_workspace uuid) returns uuid language plpgsql as $$
declare
  holder uuid;
begin
  select owner_id into holder from workspace where id = p_workspace;
  if holder is null then
    raise exception 'there is no workspace %; addWorkspace adds one', p_workspace
    using errcode = 'SS404';
  end if;
  return holder;
end $$;

create function share_workspace(p_user uuid, p_workspace uuid, p_member uuid)
returns boolean language plpgsql as $$
begin
  perform require_user(p_member);
  if require_workspace(p_workspace) <> p_user then
    raise exception 'user % does not own workspace %', p_user, p_workspace using errcode = 'SS403';
  end if;
  insert into workspace_user (workspace_id, user_id) values (p_workspace, p_member)
  on conflict do nothing;
  return true;
end $$;

create function unshare_workspace(p_user uuid, p_workspace uuid, p_member uuid)
returns boolean language plpgsql as $$
begin
  perform require_user(p_member);
  if require_workspace(p_workspace) <> p_user or p_member = p_user then
    raise exception 'user % does not end the membership of %', p_user, p_member
    using errcode = 'SS403';
  end if;
  delete from workspace_user where workspace_id = p_workspace and user_id = p_member;
  return true;
end $$;

create function require_device(p_user uuid, p_device uuid) returns void language plpgsql as $$
declare
  holder uuid;
begin
  select user_id into holder from device where id = p_device;
  if holder is null then
    raise exception 'there is no device %; addDevice adds one', p_device using errcode = 'SS404';
  end if;
  if holder <> p_user then
    raise exception 'device % belongs to user %', p_device, holder using errcode = 'SS403';
  end if;
end $$;

create function require_member(p_user uuid, p_workspace uuid) returns void language plpgsql as $$
begin
  perform require_workspace(p_workspace);
  if not exists (
    select from workspace_user where workspace_id = p_workspace and user_id = p_user
  ) then
    raise exception 'user % is not a member of workspace %', p_user, p_workspace
    using errcode = 'SS403';
  end if;
end $$;

-- Commits. One runs at a time in a workspace: it locks the workspace's row, then the owner's.

-- Whether a parent is a folder, and not in the item that would move there.
create function is_placed(p_workspace uuid, p_item bigint, p_folder boolean, p_parent bigint)
returns boolean language plpgsql as $$
declare
  root constant bigint := -9223372036854775808;
  place bigint := p_parent;
begin
  while place <> root loop
    if place = p_item then
      return false;
    end if;
    if place = p_parent and not exists (
      select from item
      where workspace_id = p_workspace and id = place and folder and not deleted
    ) then
      return false;
    end if;
    exit when not p_folder;
    select parent into place from item where workspace_id = p_workspace and id = place;
  end loop;
  return true;
end $$;

create function do_commit(
  p_user uuid, p_device uuid, p_workspace uuid, p_items bigint[], p_versions int[],
  p_statuses text[], p_parents bigint[], p_names text[], p_folders boolean[], p_mimes text[],
  p_sizes bigint[], p_checksums bigint[], p_modified bigint[], p_chunk_ends int[], p_chunks text[]
) returns table (
  r_item bigint, r_version int, r_answer text, r_current int, r_limit bigint, r_used bigint
) language plpgsql as $$
declare
  w_owner uuid;
  stored item;
  known boolean;
  gone boolean;
  difference bigint;
  chunks text[];
  again boolean;
  now_micros constant bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
begin
  perform require_device(p_user, p_device);
  perform require_workspace(p_workspace);
  perform require_member(p_user, p_workspace);
  select owner_id into w_owner from workspace where id = p_workspace for update;
  select quota_limit, quota_used into r_limit, r_used from user1 where id = w_owner for update;
  if exists (
    select from unnest(p_items, p_folders) as sent (id, folder)
    join item on item.workspace_id = p_workspace and item.id = sent.id
    where item.folder <> sent.folder
  ) then
    raise exception 'a folder stays a folder, and a file a file' using errcode = 'SS400';
  end if;
  for i in 1 .. coalesce(cardinality(p_items), 0) loop
    r_item := p_items[i];
    r_version := p_versions[i];
    r_current := null;
    select * into stored from item where workspace_id = p_workspace and id = r_item;
    known := found;
    gone := p_statuses[i] = 'DELETED';
    chunks := p_chunks[case when i = 1 then 1 else p_chunk_ends[i - 1] + 1 end : p_chunk_ends[i]];
    if not known and r_version <> 1 then
      r_answer := 'unknown';
      return next;
      continue;
    end if;
    if known and r_version <> stored.latest_version + 1 then
      r_current := stored.latest_version;
      select v.status = p_statuses[i] and v.parent = p_parents[i] and v.name = p_names[i]
        and v.folder = p_folders[i] and v.mime = p_mimes[i] and v.size = p_sizes[i]
        and v.checksum = p_checksums[i] and v.modified_at = p_modified[i]
        and chunks = array(
          select fingerprint from item_version_chunk c
          where c.workspace_id = p_workspace and c.item_id = r_item and c.version = r_version
          order by chunk_order
        )
      into again from item_version v
      where v.workspace_id = p_workspace and v.item_id = r_item and v.version = r_version;
      r_answer := case when coalesce(again, false) then 'repeated' else 'wrong' end;
      return next;
      continue;
    end if;
    if gone and p_folders[i] and exists (
      select from item where workspace_id = p_workspace and parent = r_item and not deleted
    ) then
      r_answer := 'in use';
      return next;
      continue;
    end if;
    if not gone and not is_placed(p_workspace, r_item, p_folders[i], p_parents[i]) then
      r_answer := 'no folder';
      return next;
      continue;
    end if;
    difference := case when gone then 0 else p_sizes[i] end
      - case when known and not stored.deleted then stored.size else 0 end;
    if difference > 0 and r_used + difference > r_limit then
      r_answer := 'quota';
      return next;
      continue;
    end if;
    r_used := greatest(0, r_used + difference);
    if known then
      update item set latest_version = r_version, parent = p_parents[i], deleted = gone,
        size = p_sizes[i]
      where workspace_id = p_workspace and id = r_item;
    else
      insert into item values (
        p_workspace, r_item, 1, p_parents[i], p_folders[i], gone, p_sizes[i]
      );
    end if;
    insert into item_version values (
      p_workspace, r_item, r_version, p_device, now_micros, p_statuses[i], p_parents[i],
      p_names[i], p_folders[i], p_mimes[i], p_sizes[i], p_checksums[i], p_modified[i]
    );
    insert into item_version_chunk
    select p_workspace, r_item, r_version, n, fingerprint
    from unnest(chunks) with ordinality as chunk (fingerprint, n);
    r_answer := 'committed';
    return next;
  end loop;
  update user1 set quota_used = r_used where id = w_owner and quota_used <> r_used;
end $$;

-- What there is

create function find_version(p_user uuid, p_workspace uuid, p_item bigint, p_version int)
returns table (
  r_item bigint, r_version int, r_device uuid, r_committed bigint, r_status text, r_parent bigint,
  r_name text, r_folder boolean, r_mime text, r_size bigint, r_checksum bigint, r_modified bigint,
  r_chunks text[]
) language sql stable as $$
  select item_id, version, device_id, committed_at, status, parent, name, folder, mime, size,
    checksum, modified_at, array(
      select fingerprint from item_version_chunk c
      where c.workspace_id = v.workspace_id and c.item_id = v.item_id and c.version = v.version
      order by chunk_order
    )
  from item_version v
  where workspace_id = p_workspace and item_id = p_item and version = p_version
$$;

create function list_changes(p_user uuid, p_workspace uuid, p_after bigint, p_max int)
returns table (
  r_item bigint, r_version int, r_device uuid, r_committed bigint, r_status text, r_parent bigint,
  r_name text, r_folder boolean, r_mime text, r_size bigint, r_checksum bigint, r_modified bigint,
  r_chunks text[]
) language plpgsql stable as $$
begin
  perform require_member(p_user, p_workspace);
  return query
    select f.* from (
      select id, latest_version from item
      where workspace_id = p_workspace and id > p_after order by id limit p_max
    ) i cross join lateral find_version(p_user, p_workspace, i.id, i.latest_version) f
    order by f.r_item;
end $$;

create function list_tree(p_user uuid, p_workspace uuid, p_folder bigint, p_max int)
returns table (
  r_item bigint, r_version int, r_device uuid, r_committed bigint, r_status text, r_parent bigint,
  r_name text, r_folder boolean, r_mime text, r_size bigint, r_checksum bigint, r_modified bigint,
  r_chunks text[]
) language plpgsql stable as $$
begin
  perform require_member(p_user, p_workspace);
  if p_folder <> -9223372036854775808 and not exists (
    select from item
    where workspace_id = p_workspace and id = p_folder and folder and not deleted
  ) then
    raise exception 'the workspace has no folder %', p_folder using errcode = 'SS404';
  end if;
  return query
    with recursive below (id, latest_version) as (
      select id, latest_version from item
      where workspace_id = p_workspace and parent = p_folder and not deleted
      union all
      select i.id, i.latest_version from below join item i
      on i.workspace_id = p_workspace and i.parent = below.id and not i.deleted
    )
    select f.* from (select * from below limit p_max + 1) b
    cross join lateral find_version(p_user, p_workspace, b.id, b.latest_version) f
    order by f.r_item;
end $$;

create function list_workspaces(p_user uuid)
returns table (r_id uuid, r_name text, r_owner uuid, r_members bigint, r_items bigint)
language plpgsql stable as $$
begin
  perform require_user(p_user);
  return query
    select w.id, w.name, w.owner_id,
      (select count(*) from workspace_user m where m.workspace_id = w.id),
      (select count(*) from item i where i.workspace_id = w.id)
    from workspace_user u join workspace w on w.id = u.workspace_id
    where u.user_id = p_user order by u.added;
end $$;

create function find_account(p_user uuid)
returns table (r_name text, r_mail text, r_limit bigint, r_used bigint)
language sql stable as $$
  select name, mail, quota_limit, quota_used from user1 where id = p_user
$$;

create function list_devices(p_user uuid) returns table (r_id uuid, r_name text, r_os text)
language sql stable as $$
  select id, name, os from device where user_id = p_user order by added
$$;

create function find_mail(p_mail text) returns table (r_id uuid) language sql stable as $$
  select id from user1 where mail = p_mail
$$;
