/** Switches of the chart: each is a component of `k8s/components`, in the order in which an overlay names them. */
export const COMPONENTS: Readonly<Record<string, string>> = {
  commandWorkers: 'command-workers',
  externalRedis: 'external-redis',
  sharedFiles: 'shared-files',
  secretFiles: 'secret-files',
  networkPolicies: 'network-policies',
  priorityClasses: 'priority-classes',
  podDeletionCost: 'pod-deletion-cost',
  metrics: 'metrics',
  keda: 'keda',
  prometheusScaling: 'prometheus-scaling',
  redisCluster: 'redis-cluster',
  redisTls: 'redis-tls',
};
