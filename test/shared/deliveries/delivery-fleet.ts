import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { DeliveryService } from '#shared/deliveries/delivery-service.ts';
import { deliveryId, type Delivery, type DeliveryKind, type DeliveryStatus } from '#shared/deliveries/delivery.ts';
import { readDelivery } from '#shared/deliveries/delivery-store.ts';
import { openReply } from '#shared/deliveries/open-delivery.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { openJobSource } from '#shared/queue/consumer/job-source.ts';
import { outboundSlots } from '#shared/queue/queue-names.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { driveTasks, type TaskDriver } from '../../services/api/support/drive-tasks.ts';
import { type AskedHere, askQuestion } from '../../support/agents/ask-question.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { FakePort } from './fake-port.ts';

export const TENANT = 'default';

const QUICK = { sweepMs: 50, auditMs: 300, lockMs: 1000, pollMs: 200, typingMs: 50, firstRetryMs: 20, maxRetryMs: 50 };

/** Deliveries over a Redis of their own, with a fake chat platform and a hand on the tasks. */
export class DeliveryFleet {
  readonly parts: Parts;
  readonly port = new FakePort();
  readonly drive: TaskDriver;
  readonly #server: RedisServer;
  readonly #services: Pick<DeliveryService, 'stop'>[] = [];

  static async open(settings: SettingsInput = {}): Promise<DeliveryFleet> {
    const server = await startRedis();
    const { deliveries = {}, ...rest } = settings;
    const own = { agents: { echo: { kind: 'echo' as const } }, deliveries: { ...QUICK, ...deliveries }, ...rest };
    return new DeliveryFleet(server, await openTestParts({ redisUrl: server.url, settings: own }));
  }

  private constructor(server: RedisServer, parts: Parts) {
    this.#server = server;
    this.parts = parts;
    this.drive = driveTasks(parts, TENANT);
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop(500)));
    await this.parts.close();
    await this.#server.stop();
  }

  /** A process that sends deliveries. */
  start(ports: FakePort[] = [this.port]): Pick<DeliveryService, 'stop'> {
    const { parts } = this;
    const { settings } = parts.config;
    const source = openJobSource(parts, 'deliveries');
    const slots = { deliveries: outboundSlots(settings, 'deliveries'), replies: outboundSlots(settings, 'replies') };
    const service = new DeliveryService({ parts, ports, source, slots });
    service.start();
    // Its connection ends with it, as with a process.
    const stop = async (graceMs: number): Promise<void> => {
      await service.stop(graceMs);
      source.close();
    };
    this.#services.push({ stop });
    return { stop };
  }

  /** Accepts a chat message of thread `t1`, without starting its reply. */
  async message(request: Partial<AcceptRequest> = {}): Promise<string> {
    const reply = { platform: this.port.platform, thread: 't1' };
    const { id } = await acceptTask(this.parts, { tenant: TENANT, agent: 'echo', input: 'hello', source: 'chat', reply, ...request });
    return id;
  }

  /** Accepts a chat message and starts its reply. */
  async offered(request: Partial<AcceptRequest> = {}): Promise<string> {
    const id = await this.message(request);
    await openReply(this.parts, TENANT, id);
    return id;
  }

  /** Has the run of a task ask people, and leave its lane. Returns the question's id. */
  async asks(task: string, question: string, more: Omit<AskedHere, 'question'> = {}): Promise<string> {
    const { ledger } = this.parts;
    const what = await askQuestion(this.parts, await this.drive.start(task), { question, ...more });
    // Its session's next message goes before it.
    await waitFor(
      async () => {
        await promoteDue(ledger, TENANT, [task]);
        return (await readTask(ledger, TENANT, task))?.state.suspended?.laneUntil === undefined;
      },
      { deadlineMs: 8000, what: 'the lane to be free' },
    );
    return what;
  }

  /** Answers it in the console. */
  async answer(question: string, answer: string): Promise<void> {
    const by = { kind: 'person', id: 'oidc:7', name: 'Anna', names: ['oidc:7'] } as const;
    await answerQuestion(this.parts.ledger, TENANT, { id: question, answer, by });
  }

  async delivery(task: string, kind: DeliveryKind = 'reply'): Promise<Delivery | null> {
    return (await readDelivery(this.parts.ledger, TENANT, deliveryId({ task, kind })))?.delivery ?? null;
  }

  async becomes(task: string, status: DeliveryStatus, kind: DeliveryKind = 'reply'): Promise<Delivery> {
    return await waitFor(
      async () => {
        const delivery = await this.delivery(task, kind);
        return delivery?.status === status ? delivery : null;
      },
      { deadlineMs: 8000, what: `the delivery to be ${status}` },
    );
  }

  async shows(texts: string[], thread = 't1'): Promise<void> {
    await waitFor(() => JSON.stringify(this.port.texts(thread)) === JSON.stringify(texts), {
      deadlineMs: 8000,
      what: `the chat to show ${JSON.stringify(texts)}`,
    });
  }
}
