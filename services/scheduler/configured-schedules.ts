import { type ConfigurationAudit, configurationAudit, type ScheduleParts, syncSchedules } from '#shared/schedules/index.ts';
import { claimConfiguration } from '#shared/queue/index.ts';
import { Ticker } from '#shared/time/index.ts';

/** Between two claims. */
const CLAIM_MS = 15_000;
/** For so long no scheduler with a newer configuration may live before a running one with an older takes over. */
const ABSENT_MS = 60_000;

/**
 * ConfiguredSchedules is responsible for writing the schedules of the configuration, at the start and only while this process's
 * configuration is in force.
 */
export class ConfiguredSchedules {
  readonly #parts: ScheduleParts;
  readonly #configuration: string;
  readonly #audit: ConfigurationAudit;
  readonly #ticker: Ticker;
  #isFirst = true;
  #isWritten = false;
  #supersededBy: string | null = null;

  constructor(parts: ScheduleParts, configuration: string) {
    this.#parts = parts;
    this.#configuration = configuration;
    this.#audit = configurationAudit(parts, configuration);
    this.#ticker = new Ticker({
      everyMs: CLAIM_MS,
      run: () => this.#claim(),
      onError: (error) => parts.log.debug({ err: error }, 'the schedules of the configuration wait for Redis'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #claim(): Promise<void> {
    const absentMs = this.#isFirst ? 0 : ABSENT_MS;
    const claim = await claimConfiguration(this.#parts, this.#configuration, { absentMs });
    this.#isFirst = false;
    if (claim.kind === 'superseded') {
      this.#yieldTo(claim.by);
      return;
    }
    this.#supersededBy = null;
    if (claim.replaced !== null) await this.#recordReplaced(claim.replaced);
    if (this.#isWritten) return;
    await syncSchedules(this.#parts, this.#audit);
    this.#isWritten = true;
  }

  /** Its schedules stay those of the newer configuration. */
  #yieldTo(by: string): void {
    this.#isWritten = false;
    if (this.#supersededBy === by) return;
    this.#supersededBy = by;
    const reason = `${by} came later than ${this.#configuration}`;
    this.#parts.log.warn({ event: 'configuration.superseded', reason }, 'a newer configuration is in force; this one changes no schedules');
  }

  async #recordReplaced(replaced: string): Promise<void> {
    const fields = { event: 'configuration.replaced', configuration: this.#configuration, reason: `it replaces ${replaced}` };
    this.#parts.log.info(fields, 'a configuration is in force');
    await this.#audit.recordReplaced(replaced);
  }
}
