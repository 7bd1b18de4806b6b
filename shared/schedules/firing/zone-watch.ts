import { listProcesses } from '../../queue/index.ts';
import { isOlderZoneData, ZONE_DATA } from '../../time/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';

const SCHEDULER = 'scheduler';
/** For so long an answer holds. */
const KEEP_MS = 5000;

/**
 * ZoneWatch is responsible for knowing whether the schedulers that live have the same time zone data. Of several the newest decides, because
 * two that disagree about a zone would both fire.
 */
export class ZoneWatch {
  readonly #parts: ScheduleParts;
  #readAt = -Infinity;
  #known: ZoneStanding = { isOutdated: false, hasOutdated: false };

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  async read(): Promise<ZoneStanding> {
    if (performance.now() - this.#readAt < KEEP_MS) return this.#known;
    const schedulers = (await listProcesses(this.#parts)).filter(({ services }) => services.includes(SCHEDULER));
    const newer = schedulers.find(({ zoneData }) => isOlderZoneData(ZONE_DATA, zoneData));
    const isOutdated = newer !== undefined;
    if (isOutdated && !this.#known.isOutdated) {
      const reason = `this process has ${ZONE_DATA || 'none'}, and ${newer.id} has ${newer.zoneData}`;
      this.#parts.log.warn({ event: 'scheduler.stands-by', reason }, 'a scheduler with newer time zone data fires the schedules');
    }
    this.#known = { isOutdated, hasOutdated: schedulers.some(({ zoneData }) => isOlderZoneData(zoneData, ZONE_DATA)) };
    this.#readAt = performance.now();
    return this.#known;
  }
}

interface ZoneStanding {
  /** A scheduler with newer data lives: this one decides nothing. */
  isOutdated: boolean;
  /** A scheduler with older data lives: it takes ticks of the clock, and fires nothing. */
  hasOutdated: boolean;
}
