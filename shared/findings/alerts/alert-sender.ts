import type { AlertRule } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import { isRedisUnavailable, type Keys, type RedisClient } from '../../redis/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { ListOwner } from '../list/finding-store.ts';
import type { KeptFinding } from '../list/reconcile.ts';
import { alertOf, concerns, type Alert, type KeptAlert } from './alert.ts';
import { dropAlerts, keepAlerts, readAlerts } from './alert-store.ts';
import { noteFailed, noteTaken } from './receiver-store.ts';
import { type MailSettings, messagesOf, REPEAT_MS, sendAlerts } from './send-alerts.ts';

export interface AlertPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly rules: readonly AlertRule[];
  readonly mail: MailSettings;
  readonly log: Log;
  readonly clock?: Clock;
}

/** After a failure; doubled each time. */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;
/** Of a list in one look; the rest comes with the next. */
const MAX_AT_ONCE = 50;
/** What was sent and is not noted, of all lists; of more the oldest may be sent again. */
const MAX_UNNOTED = 1000;

/** A list as it was looked at, and what a rule sent before. */
interface Seen {
  readonly findings: readonly KeptFinding[];
  readonly isOwner: (tenant: string) => boolean;
  readonly kept: readonly KeptAlert[];
}

/** How a rule's receiver does. */
interface Receiver {
  failures: number;
  nextTryAt: number;
  /** When it was sent what still fires. */
  repeatedAt: number;
}

/**
 * AlertSender is responsible for each finding reaching the receivers that the configuration names, once when it is found and once when it is
 * resolved, under one id. A process that dies between sending and noting sends again under that id; while Redis refuses the note, this process
 * remembers it. That a receiver fails is logged, and is a finding that goes to the others.
 */
export class AlertSender {
  readonly #ports: AlertPorts;
  readonly #clock: Clock;
  readonly #receivers = new Map<string, Receiver>();
  /** By id, what was sent last and Redis has not. */
  readonly #unnoted = new Map<string, KeptAlert>();

  constructor(ports: AlertPorts) {
    this.#ports = ports;
    this.#clock = ports.clock ?? systemClock;
  }

  /** Sends what is new in a list, and what is gone from it. `isOwner`: whether there is such a tenant. Never rejects for a receiver. */
  async see(owner: ListOwner, findings: readonly KeptFinding[], isOwner: (tenant: string) => boolean): Promise<void> {
    const { rules } = this.#ports;
    if (rules.length === 0 && owner !== null) return;
    await this.#writeNotes();
    const kept = this.#withUnnoted(await readAlerts(this.#ports));
    if (owner === null) await this.#forgetRules(kept);
    for (const rule of rules) await this.#seeRule(rule, owner, { findings, isOwner, kept: kept.filter((each) => each.rule === rule.name) });
  }

  /** Nobody is left to send what rules sent that the configuration has no more. */
  async #forgetRules(kept: readonly KeptAlert[]): Promise<void> {
    const names = new Set(this.#ports.rules.map(({ name }) => name));
    await dropAlerts(
      this.#ports,
      kept.filter(({ rule }) => !names.has(rule)),
    );
  }

  async #seeRule(rule: AlertRule, owner: ListOwner, { findings, isOwner, kept }: Seen): Promise<void> {
    const concerned = findings.filter((finding) => concerns(rule, owner, finding));
    // Since when a finding is there may be found later, and its alert keeps its id.
    const isKept = new Set(kept.flatMap(({ alert, finding }) => (alert.tenant === owner ? [finding] : [])));
    const fresh = concerned
      .filter(({ id, acknowledged }) => acknowledged === null && !isKept.has(id))
      .map((finding) => ({ rule: rule.name, finding: finding.id, alert: alertOf(rule, owner, finding) }));
    const isStill = new Set(concerned.map(({ id }) => id));
    // Of a tenant that is gone nobody looks any more.
    const isGone = ({ alert, finding }: KeptAlert): boolean =>
      alert.tenant === owner ? !isStill.has(finding) : owner === null && alert.tenant !== null && !isOwner(alert.tenant);
    const gone = kept.filter(isGone);
    await this.#sendNew(rule, fresh);
    const resolved = gone.map((each) => ({ ...each, alert: { ...each.alert, status: 'resolved' as const } }));
    await this.#sendNew(rule, resolved);
    if (owner === null)
      await this.#repeat(
        rule,
        kept.filter((each) => !gone.includes(each)),
      );
  }

  /** Each message is noted as soon as it was taken, so that none is sent again because a later one was not. */
  async #sendNew(rule: AlertRule, alerts: readonly KeptAlert[]): Promise<void> {
    for (const message of messagesOf(rule, alerts.slice(0, MAX_AT_ONCE))) {
      const alertsOfIt = message.map(({ alert }) => alert);
      if (!(await this.#send(rule, alertsOfIt))) return;
      for (const sent of message) this.#remember(sent);
      await this.#writeNotes();
    }
  }

  #remember(sent: KeptAlert): void {
    this.#unnoted.set(sent.alert.id, sent);
    for (const id of this.#unnoted.keys()) if (this.#unnoted.size > MAX_UNNOTED) this.#unnoted.delete(id);
  }

  /** Writes what was sent. Where Redis refuses, the next look tries again. */
  async #writeNotes(): Promise<void> {
    const all = [...this.#unnoted.values()];
    const isWritten = await this.#whileServed(async () => {
      await dropAlerts(
        this.#ports,
        all.filter(({ alert }) => alert.status === 'resolved'),
      );
      await keepAlerts(
        this.#ports,
        all.filter(({ alert }) => alert.status === 'firing'),
      );
    });
    // Another list may have sent something meanwhile.
    for (const each of isWritten ? all : []) if (this.#unnoted.get(each.alert.id) === each) this.#unnoted.delete(each.alert.id);
  }

  /** What fires, as it was sent last. */
  #withUnnoted(stored: readonly KeptAlert[]): KeptAlert[] {
    const unnoted = [...this.#unnoted.values()].filter(({ alert }) => alert.status === 'firing');
    return [...stored.filter(({ alert }) => !this.#unnoted.has(alert.id)), ...unnoted];
  }

  /** Whether Redis took it: one that refuses writes is what people have to hear of, so it does not end the sending. */
  async #whileServed(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
      this.#ports.log.debug({ err: error }, 'what was sent is noted later');
      return false;
    }
  }

  /** Alertmanager takes what it does not hear of again for resolved. */
  async #repeat(rule: AlertRule, kept: readonly KeptAlert[]): Promise<void> {
    const receiver = this.#receiverOf(rule);
    if (!('alertmanager' in rule.to) || kept.length === 0 || this.#clock.now() - receiver.repeatedAt < REPEAT_MS) return;
    receiver.repeatedAt = this.#clock.now();
    await this.#send(
      rule,
      kept.map(({ alert }) => alert),
    );
  }

  /** Returns whether they were taken. */
  async #send(rule: AlertRule, alerts: readonly Alert[]): Promise<boolean> {
    const { mail, log } = this.#ports;
    const receiver = this.#receiverOf(rule);
    const now = this.#clock.now();
    if (now < receiver.nextTryAt) return false;
    try {
      await sendAlerts(rule, alerts, { mail, now });
    } catch (error) {
      receiver.nextTryAt = now + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** receiver.failures);
      receiver.failures += 1;
      log.warn({ event: 'alert.failed', alert: rule.name, failures: receiver.failures, err: error }, 'a receiver took no alert');
      const failure = { at: now, times: receiver.failures, why: whyOf(error) };
      await this.#whileServed(() => noteFailed(this.#ports, rule.name, failure));
      return false;
    }
    receiver.failures = 0;
    receiver.nextTryAt = 0;
    await this.#whileServed(() => noteTaken(this.#ports, { rule: rule.name, status: alerts[0]?.status ?? 'firing', at: now }));
    return true;
  }

  #receiverOf({ name }: AlertRule): Receiver {
    const known = this.#receivers.get(name) ?? { failures: 0, nextTryAt: 0, repeatedAt: 0 };
    this.#receivers.set(name, known);
    return known;
  }
}

/** Without the words that an alert was not taken, which stand around it. */
function whyOf(error: unknown): string {
  if (error instanceof MusterError && typeof error.details?.['why'] === 'string') return error.details['why'];
  return error instanceof Error ? error.message : String(error);
}
