/**
 * What limits would do: a simulation of a tenant's caps and rates over the tasks of its last day. The limits themselves are applied by the
 * ledger's scripts.
 */
export { previewLimits } from './preview-limits.ts';
