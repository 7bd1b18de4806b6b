import type { Log } from '../../log/index.ts';
import { redisNow } from '../../redis/index.ts';
import { systemClock } from '../../time/index.ts';
import { installationFacts, type InstallationPorts } from '../facts/installation-facts.ts';
import { loadFacts } from '../facts/load-facts.ts';
import { tenantFacts, type TenantPorts } from '../facts/tenant-facts.ts';
import type { RecordScope } from '../facts/unreadable-records.ts';
import { atDepth, type Depth, type Inspected, inspectAll } from '../inspection.ts';
import { FLEET_INSPECTIONS, TENANT_INSPECTIONS } from '../inspections.ts';
import { type ListOwner, readList, writeAcknowledgement, writeList } from './finding-store.ts';
import { publishFinding } from './publish-finding.ts';
import { type KeptFinding, reconcile } from './reconcile.ts';

export interface ListPorts extends TenantPorts {
  readonly redis: InstallationPorts['redis'];
  readonly keys: InstallationPorts['keys'];
  readonly log: Log;
  readonly hasMail?: InstallationPorts['hasMail'];
}

/** A list as it is now, with what each inspection said. */
export interface LookedAt {
  kept: KeptFinding[];
  inspected: Inspected[];
}

/** How far records are read where a person waits for the answer. */
const SCOPE: RecordScope = { maxRead: 2000, maxTenants: 100 };

/**
 * FindingList is responsible for the one list of what a person should know of: the installation's, and each tenant's own. A look reads the
 * facts, judges them, and brings the stored list up to date, so that a finding stays until it is resolved or acknowledged.
 */
export class FindingList {
  readonly #ports: ListPorts;

  constructor(ports: ListPorts) {
    this.#ports = ports;
  }

  /** Looks now. What is deeper than `depth` stands as it was found before. */
  async look(owner: ListOwner, depth: Depth = 'usual'): Promise<LookedAt> {
    const [stored, inspected, now] = await Promise.all([
      readList(this.#ports, owner),
      this.#inspect(owner, depth),
      redisNow(this.#ports.redis),
    ]);
    const { kept, ...changes } = reconcile(stored, inspected, now);
    await this.#store(owner, changes);
    return { kept, inspected };
  }

  /** Notes that a person knows of a finding; null where there is no such one. */
  async acknowledge(owner: ListOwner, id: string, by: string | null): Promise<KeptFinding | null> {
    const finding = (await this.look(owner)).kept.find((each) => each.id === id);
    if (!finding) return null;
    const acknowledged = { at: await redisNow(this.#ports.redis), by, severity: finding.severity };
    await writeAcknowledgement(this.#ports, owner, id, acknowledged);
    return { ...finding, acknowledged };
  }

  async #inspect(owner: ListOwner, depth: Depth): Promise<Inspected[]> {
    if (owner !== null) return await inspectAll(atDepth(TENANT_INSPECTIONS, depth), tenantFacts(this.#ports, owner));
    const facts = {
      ...installationFacts({ ...this.#ports, settings: this.#ports.ledger.settings, seal: this.#ports.ledger.seal }, systemClock, SCOPE),
      ...loadFacts(this.#ports),
    };
    return await inspectAll(atDepth(FLEET_INSPECTIONS, depth), facts);
  }

  /** A Redis that refuses writes is a finding itself: the list is answered all the same. */
  async #store(owner: ListOwner, changes: Parameters<typeof writeList>[2]): Promise<void> {
    const { redis, keys, ledger, log } = this.#ports;
    try {
      const { opened, resolved } = await writeList(this.#ports, owner, changes);
      const fleet = { redis, keys, settings: ledger.settings };
      for (const finding of opened) await publishFinding(fleet, owner, finding, 'opened');
      for (const finding of resolved) await publishFinding(fleet, owner, finding, 'resolved');
    } catch (error) {
      log.debug({ err: error, tenant: owner }, 'what was found could not be stored now');
    }
  }
}
