/**
 * What agents used and what that costs: prices of models, and the rows that the ledger keeps by day. It writes nothing.
 */
export { pricedUsage, priceUsage } from './prices.ts';
export { USAGE_GROUPS, type UsageGroups, readUsageGroups } from './read-usage.ts';
