import { type Ledger, readPressedTenants } from '../../ledger/index.ts';
import { fleetBound, helpsAt, type LoadReader, readFleetPressure } from '../../queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '../../tenants/index.ts';
import { once } from '../inspection.ts';

export type LoadFacts = Readonly<ReturnType<typeof readers>>;

/** Other tenants that are named at once. */
const MAX_TENANTS = 50;

/** How much the fleet has to do. Each is read once, when something asks for it. */
export function loadFacts(ports: { readonly ledger: Ledger; readonly loads: LoadReader }): LoadFacts {
  return readers(ports);
}

function readers({ ledger, loads }: { readonly ledger: Ledger; readonly loads: LoadReader }) {
  return {
    /** By what there is to do: a Redis that is nearly full has a finding of its own. */
    pressure: once(async () => {
      const pressure = await readFleetPressure(ledger);
      return fleetBound(pressure, ledger.settings.limits.backpressure) === 'memory' ? { ...pressure, level: 'none' as const } : pressure;
    }),
    load: once(() => loads.read(null)),
    /** What helps at a gate. */
    helpsAt: (gate: string): string => helpsAt(ledger, gate),
    pressedTenants: once(async () => {
      const pressed = (await readPressedTenants(ledger)).filter(({ tenant }) => tenant !== DEFAULT_TENANT);
      return pressed.slice(0, MAX_TENANTS).map(({ tenant, level }) => ({ tenant: publicTenantId(tenant), level }));
    }),
  };
}
