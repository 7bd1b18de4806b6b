/**
 * What agents used and what that costs: prices of models, and the rows that the ledger keeps by day. It writes nothing.
 */
export { pricedUsage, priceUsage } from './prices.ts';
export { readTaskUsage } from './read-task-usage.ts';
export { TASK_GROUPS, type TaskGroup } from './task-groups.ts';
export { readUsedTasks } from './used-tasks.ts';
export { USAGE_GROUPS, type UsageGroups, readUsageGroups } from './read-usage.ts';
