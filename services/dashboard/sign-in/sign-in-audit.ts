import type { Request } from 'express';
import { actorOf, type AuditActor, type AuditPorts, recordAudit } from '#shared/audit/index.ts';
import type { ErrorCode } from '#shared/errors/index.ts';
import type { ApiKey, Person } from '#shared/tenants/index.ts';

/** How a person signed in, or that the person signed out. */
export type SignInAction = 'signIn' | 'signInByLink' | 'signInByProvider' | 'signOut' | 'signOutByProvider';

/** SignInAudit is responsible for the entries that sign-ins leave in the audit log. Guesses leave none: nobody is known by them. */
export class SignInAudit {
  readonly #ports: AuditPorts;

  constructor(ports: AuditPorts) {
    this.#ports = ports;
  }

  /** Records that a person with this key signed in or out. Never rejects. */
  async recordDone(request: Request, action: SignInAction, key: ApiKey): Promise<void> {
    await this.#record(request, { action, tenant: key.tenant, actor: actorOf(key), code: null });
  }

  /** The same of a person of the provider, who acts in this tenant. */
  async recordPerson(request: Request, action: SignInAction, person: Pick<Person, 'id' | 'name'>, tenant: string): Promise<void> {
    const actor = { kind: 'person', id: person.id, name: person.name } as const;
    await this.#record(request, { action, tenant, actor, code: null });
  }

  /** Records that somebody who is known was refused. Never rejects. */
  async recordRefusal(
    request: Request,
    action: SignInAction,
    refusal: { tenant: string; actor: AuditActor; code: ErrorCode; fields?: string[] },
  ): Promise<void> {
    await this.#record(request, { action, ...refusal });
  }

  async #record(request: Request, { action, tenant, actor, code, fields = [] }: SignInEvent): Promise<void> {
    const outcome = code === null ? 'done' : 'refused';
    const from = request.ip ?? null;
    await recordAudit(this.#ports, tenant, { actor, via: 'sign-in', from, action, object: null, fields, outcome, code });
  }
}

interface SignInEvent {
  action: SignInAction;
  tenant: string;
  actor: AuditActor;
  code: ErrorCode | null;
  /** Names of claims that were missing. */
  fields?: string[];
}
