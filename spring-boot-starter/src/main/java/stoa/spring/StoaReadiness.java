package stoa.spring;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.core.Ordered;

/// Makes the health of the store a member of the group `readiness`, where there is one.
final class StoaReadiness implements HealthEndpointGroupsPostProcessor, Ordered {
  /// The name of the health contributor.
  static final String MEMBER = "stoa";

  private static final String GROUP = "readiness";

  @Override
  public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
    HealthEndpointGroup readiness = groups.get(GROUP);
    if (readiness == null) return groups;
    var changed = new LinkedHashMap<String, HealthEndpointGroup>();
    for (String name : groups.getNames()) {
      HealthEndpointGroup group = groups.get(name);
      if (group != null) changed.put(name, group);
    }
    changed.put(GROUP, new WithStore(readiness));
    return HealthEndpointGroups.of(groups.getPrimary(), changed);
  }

  /// Spring Boot's own processor, which makes the group, comes first.
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  private record WithStore(HealthEndpointGroup group) implements HealthEndpointGroup {
    @Override
    public boolean isMember(String name) {
      return name.equals(MEMBER) || group.isMember(name);
    }

    @Override
    public boolean showComponents(SecurityContext securityContext) {
      return group.showComponents(securityContext);
    }

    @Override
    public boolean showDetails(SecurityContext securityContext) {
      return group.showDetails(securityContext);
    }

    @Override
    public StatusAggregator getStatusAggregator() {
      return group.getStatusAggregator();
    }

    @Override
    public HttpCodeStatusMapper getHttpCodeStatusMapper() {
      return group.getHttpCodeStatusMapper();
    }

    @Override
    public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
      return group.getAdditionalPath();
    }
  }
}
