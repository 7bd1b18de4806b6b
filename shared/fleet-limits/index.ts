/**
 * Limits of the fleet as a whole: the configuration's, or those that an administrator set live, as each process knows them without a round
 * trip (`FleetLimitsDirectory`); the rates of all tenants together (`FleetRates`); and the shares of tenants in its caps on what runs.
 */
export {
  configuredFleetLimits,
  FleetLimitsDirectory,
  mergeFigures,
  patchFleetLimits,
  type StoredFleetLimits,
} from './fleet-limits-directory.ts';
export { FleetRates } from './fleet-rates.ts';
export { CAP_NAMES, type CapName, divideCaps, type FleetShare, runningCaps, saveShares, type TenantDemand } from './fleet-shares.ts';
