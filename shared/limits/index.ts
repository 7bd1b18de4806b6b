/**
 * What limits would do: a simulation of the caps and rates of a tenant, or of the fleet, over the tasks of the last day. The limits
 * themselves are applied by the ledger's scripts.
 */
export { describePreview } from './describe-preview.ts';
export { type LimitsPreview, previewFleetLimits, previewLimits } from './preview-limits.ts';
