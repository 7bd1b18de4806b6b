import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Person } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useIsInstallation, usePerson } from '../../api/person.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import classes from './people.module.css';
import { SetUpNote } from './set-up-note.tsx';

const QUERY_KEY = ['people'];
const LIMIT = 100;

/** Who signed in at the identity provider, with the roles that the last sign-in gave. */
export function Page(): ReactElement | null {
  const { data: person } = usePerson();
  if (person === undefined) return null;
  const provider = person.provider ?? null;
  return (
    <PageFrame title="People" note={provider === null ? undefined : `by ${provider}`}>
      {provider === null ? <SetUpNote /> : null}
      <PeopleTable isEmptyShown={provider !== null} />
    </PageFrame>
  );
}

/** Without a provider there may still be people of an earlier one. */
function PeopleTable({ isEmptyShown }: { isEmptyShown: boolean }): ReactElement {
  const query = useInfiniteQuery({
    queryKey: QUERY_KEY,
    queryFn: ({ pageParam, signal }) => {
      const part = { limit: LIMIT, cursor: pageParam ?? undefined };
      return answerOf(api.GET('/v1/people', { params: { query: part }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  return (
    <QueryView query={query} title="The people could not be read">
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items);
        if (rows.length === 0 && !isEmptyShown) return null;
        return (
          <DataTable
            name="people"
            label="People"
            rows={rows}
            rowId={({ id }) => id}
            columns={COLUMNS}
            tone={({ disabled }) => (disabled ? 'warn' : null)}
            whenEmpty="Nobody has signed in at the provider yet."
            more={{ hasMore: query.hasNextPage, isLoading: query.isFetchingNextPage, load: () => void query.fetchNextPage() }}
          />
        );
      }}
    </QueryView>
  );
}

const COLUMNS: readonly Column<Person>[] = [
  { id: 'name', title: 'Person', width: 200, onNarrow: 'first', cell: ({ name }) => <strong>{name}</strong> },
  { id: 'email', title: 'Email', width: 220, onNarrow: 'line', cell: ({ email }) => <span title={email ?? ''}>{email ?? '–'}</span> },
  { id: 'roles', title: 'May', onNarrow: 'line', cell: ({ roles }) => <Roles roles={roles} /> },
  {
    id: 'state',
    title: 'State',
    width: 100,
    onNarrow: 'line',
    cell: ({ disabled }) => (disabled ? <ToneBadge tone="warn">disabled</ToneBadge> : <ToneBadge tone="good">active</ToneBadge>),
  },
  { id: 'last', title: 'Last sign-in', width: 120, onNarrow: 'line', cell: ({ lastSignInAt }) => <Age at={lastSignInAt} of="signed in" /> },
  { id: 'first', title: 'First sign-in', width: 120, cell: ({ firstSignInAt }) => <Age at={firstSignInAt} of="first signed in" /> },
  { id: 'id', title: 'Id', width: 200, isOptional: true, cell: ({ id }) => <CopyId id={id} /> },
  { id: 'actions', title: 'Actions', width: 180, align: 'end', onNarrow: 'line', cell: (person) => <PersonActions person={person} /> },
];

function Roles({ roles }: Pick<Person, 'roles'>): ReactElement {
  if (roles.length === 0) return <span className="faint">nothing</span>;
  const text = roles.map(({ tenant, scopes }) => `${scopes.join(', ')} in ${tenant}`).join('; ');
  return <span title={text}>{text}</span>;
}

const switchPerson = (id: string, disabled: boolean): Promise<unknown> =>
  answerOf(api.PATCH('/v1/people/{id}', { ...byId(id), body: { disabled } }));

function PersonActions({ person: { id, name, disabled } }: { person: Person }): ReactElement {
  const isInstallation = useIsInstallation();
  const refresh = [QUERY_KEY];
  return (
    <span className={classes['actions']}>
      {isInstallation ? (
        <ActionButton
          needs="admin"
          text="Sign out"
          size="compact-xs"
          run={() => answerOf(api.DELETE('/v1/people/{id}/sign-ins', byId(id)))}
          done={`${name} is signed out of all browsers`}
          refresh={refresh}
          confirm={{
            title: `Sign ${name} out?`,
            text: 'All sign-ins of this person end at once. The roles stay, so the person may sign in again.',
            button: 'Sign out',
          }}
        />
      ) : null}
      <ActionButton
        needs="admin"
        text={disabled ? 'Enable' : 'Disable'}
        size="compact-xs"
        danger={!disabled}
        run={() => switchPerson(id, !disabled)}
        done={`${name} is ${disabled ? 'enabled' : 'disabled'}`}
        refresh={refresh}
        undo={() => switchPerson(id, disabled)}
        {...(disabled
          ? {}
          : {
              confirm: {
                title: `Disable ${name}?`,
                text: `The person loses the roles at once, ${isInstallation ? 'in all tenants' : 'in this tenant'}, also where the person is signed in.`,
                button: 'Disable',
                danger: true,
              },
            })}
      />
    </span>
  );
}
