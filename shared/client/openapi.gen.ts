// Written by `npm run openapi` from docs/openapi.json.

export interface paths {
  "/v1/tasks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List tasks, newest first
     * A page may be short while `nextCursor` says that there is more: texts, metadata and workers are searched for in up to `search.maxScanned` tasks per page and up to `search.maxMs`, and long tasks take several pages. Needs the scope `read`.
     */
    get: operations["listTasks"];
    put?: never;
    /**
     * Submit a task
     * With an `Idempotency-Key` the request can be repeated without making a second task. A task with a `session` waits its turn; with a `mode` it meets the running task of its session like a message in that mode. Needs the scope `submit`.
     */
    post: operations["submitTask"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/bulk": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Submit many tasks, each with its own answer
     * Tasks of a session start in the order of the items: behind one that is refused for now, those of its session are refused too. Under one `Idempotency-Key` each item has its own key, made of it and the item’s place. Needs the scope `submit`.
     */
    post: operations["submitTasks"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/facets": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Count tasks by status, agent, source, code
     * Takes the filter of `GET /v1/tasks`. Each facet leaves out its own filter, so that its other values are counted too. Needs the scope `read`.
     */
    get: operations["countTaskFacets"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/actions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List actions on many tasks, newest first
     * Needs the scope `read`.
     */
    get: operations["listActions"];
    put?: never;
    /**
     * Retry, cancel or discard many tasks
     * Applies to each task what the endpoint of one task does, as a background job: tasks that fit now, the oldest first, and to cancel the newest first. `discard` needs the scope `operate`. With an `Idempotency-Key` the request can be repeated. More than `actions.maxActive` under way: 429 `limit.actions`. Needs the scope `submit`.
     */
    post: operations["createAction"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/actions/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read an action on many tasks and its progress
     * Needs the scope `read`.
     */
    get: operations["getAction"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/actions/{id}/cancel": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Apply an action to no further task
     * Tasks that it was applied to stay as they are. Needs the scope `submit`.
     */
    post: operations["cancelAction"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a task
     * Needs the scope `read`.
     */
    get: operations["getTask"];
    put?: never;
    post?: never;
    /**
     * Remove the record of an ended task
     * With its input, output, attempts and timeline. Its pending deliveries are dropped. A task that has not ended answers 409 `task.wrong-state`: cancel it first. Needs the scope `operate`.
     */
    delete: operations["deleteTask"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/why": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Why a task does not run yet
     * Needs the scope `read`.
     */
    get: operations["explainTask"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/attempts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The attempts of a task
     * Needs the scope `read`.
     */
    get: operations["listAttempts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/timeline": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Every step of a task
     * Needs the scope `read`.
     */
    get: operations["getTimeline"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/log": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Log and progress that the agent of a task reported
     * What the agent reported by `context.log` (`info` and up) and `context.progress`: the latest entries, bounded by `tasks.maxLogEntries`, and kept for `tasks.logRetentionMs` after the last one. Needs the scope `read`.
     */
    get: operations["getTaskLog"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/journal": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The journal of a run
     * The steps of `context.step`, messages that the run took, and what it waited for. Kept as long as the task; empty for a run without steps. Needs the scope `read`.
     */
    get: operations["getJournal"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/journal/{seq}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One entry of a journal, whole
     * Needs the scope `read`.
     */
    get: operations["getJournalEntry"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/tree": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A task with its sub-tasks
     * The task and all that descends from it by delegation, level by level. `rootTaskId` of a task is the one that has the whole tree. Needs the scope `read`.
     */
    get: operations["getTree"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/artifacts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The files that a task made
     * Needs the scope `read`.
     */
    get: operations["listArtifacts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/artifacts/{name}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download a file that a task made
     * Needs the scope `read`.
     */
    get: operations["downloadArtifact"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/attachments/{name}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download a file that a task was given
     * A file that is fetched from an address is there once the first attempt has begun. Needs the scope `read`.
     */
    get: operations["downloadAttachment"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/stream": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The output of a task while it is written
     * Server-sent events, the last of which is `end`. Resumes after `Last-Event-ID` (or `?lastEventId=`). A later attempt starts over with its own number. Needs the scope `read`.
     */
    get: operations["streamTask"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/cancel": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stop a task and its sub-tasks
     * Needs the scope `submit`.
     */
    post: operations["cancelTask"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/retry": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Retry a permanently failed task, or start a task that waits for a retry now
     * With `fromStep` a new task is made of an ended one; the answer has its id. Needs the scope `submit`.
     */
    post: operations["retryTask"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/input": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a message to a running task
     * The message is a task of its own. It ends as part of the running task that takes it, else it is the next turn. With an `Idempotency-Key` the request can be repeated. Needs the scope `submit`.
     */
    post: operations["sendInput"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/priority": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Change the priority of a task that does not run
     * Needs the scope `submit`.
     */
    post: operations["changePriority"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/questions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List questions, newest task first
     * What runs ask people by `context.ask`, kept as long as their tasks. With `taskId` the list has one page, in the order of the run. Needs the scope `read`.
     */
    get: operations["listQuestions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/questions/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One question
     * Needs the scope `read`.
     */
    get: operations["getQuestion"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/questions/{id}/answer": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Answer a question
     * The run goes on with the first answer; further ones are refused with `question.answered`. An answer that does not fit is refused with `question.invalid`, and the question stays open. Needs the scope `answer`.
     */
    post: operations["answerQuestion"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/uploads": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Upload a file for a task or message
     * The body is the file itself, or a form (`multipart/form-data`) with one file. An upload that no task has is removed after `files.uploadMs`. Needs the scope `submit`.
     */
    post: operations["createUpload"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/uploads": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Upload a file for a message of a session
     * As `POST /v1/uploads`. A visitor may send files of `files.maxVisitorFileBytes`, and names them as `attachments` of a message by their `uploadId`. Needs the scope `submit`, or a visitor's token of this session.
     */
    post: operations["createSessionUpload"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/files/{signed}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download a file by its signed address
     * Needs no key.
     */
    get: operations["downloadLinkedFile"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/files/{signed}/{name}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Add a file to a running task by a signed address
     * A file of the same name is replaced. 409 `file.attempt-over` once the attempt has ended. Needs no key.
     */
    put: operations["uploadLinkedFile"];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/checkpoint": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Keep what a running attempt leaves for the next one
     * For agents behind HTTP, and programs, with the key of the attempt alone. 409 `checkpoint.attempt-over` once the attempt has ended. Needs no key.
     */
    post: operations["keepCheckpoint"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/events": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send an event to the runs that wait for it
     * It is kept for `events.keepMs`, and runs that begin to wait within that time get it, too. An event with the `id` of an earlier one answers as that did. Needs the scope `submit`.
     */
    post: operations["sendEvent"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/failures": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Permanently failed tasks in groups of one error, agent or release
     * An index counts all tasks of a filter. For a `schedule` or a `release`, by releases, or for more than `limit` groups, a page reads tasks, newest first, up to `actions.maxRead` and for `search.maxMs`; `nextCursor` continues with older ones, whose groups may be the same. Needs the scope `read`.
     */
    get: operations["listFailures"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/usage": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Tokens and cost by day, agent, model, tenant, source, task, session, person, key or schedule
     * Of the tenant of the key; with `groupBy=tenant` and a key of the tenant `default`, of all tenants. Days are of UTC and kept for `usage.retentionDays`; an attempt counts on the day of its end. By task, session, person, key and schedule it sums the tasks that are kept and ended in that time. Needs the scope `read`.
     */
    get: operations["getUsage"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the sessions that have tasks
     * A page may be short while `nextCursor` says that there is more. Needs the scope `read`.
     */
    get: operations["listSessions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a session: its current task, what waits and why, its mode
     * An unused session is answered like a free one. Needs the scope `read`, or a visitor's token of this session.
     */
    get: operations["getSession"];
    put?: never;
    post?: never;
    /**
     * Erase a session and all that was said and made in it
     * What runs or waits is stopped first, then all is removed: tasks with inputs, outputs, journals and checkpoints, files, deliveries, questions, kept workspaces, bodies of webhooks, notifications. The same call again answers with the same erasure until it has ended. The audit log says that it was done. Needs the scope `operate`.
     */
    delete: operations["eraseSession"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/messages": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a message into a session
     * It becomes a task of the session. Its mode decides what happens when it meets a running task: `mode` here or `/queue <mode>` in the text, else the mode of the session, of the surface, or the default. A command is applied at once and answered with 200. With an `Idempotency-Key` the request can be repeated. Needs the scope `submit`, or a visitor's token of this session.
     */
    post: operations["sendMessage"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/stream": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Events of a session while they happen
     * Server-sent events. First `history`: the latest messages that have their outcome. Then, for each message without an outcome and each new message: `message`, `status`, `output`, `question` where its run asks people, and once `end`. A repeated run starts at `seq` 1 again. With `Last-Event-ID` (or `?lastEventId=`) output continues after that event; all other events are sent again. Needs the scope `read`, or a visitor's token of this session.
     */
    get: operations["streamSession"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/transcript": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The turns of a session, as its agents receive them
     * Oldest first, since the last `/new`, bounded by `sessions.transcriptTurns` and `transcriptBytes`. Needs the scope `read`, or a visitor's token of this session.
     */
    get: operations["getTranscript"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/stop": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Withdraw what waits in a session, then stop what runs
     * Runs of schedules that report into it, and sub-tasks of a stopped task, stop with it. Later messages are not affected, and schedules go on. Needs the scope `submit`, or a visitor's token of this session.
     */
    post: operations["stopSession"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/mode": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Set the mode of messages that meet a running task
     * `default` or `reset` removes the choice. It applies to the next message, in every process. Needs the scope `submit`, or a visitor's token of this session.
     */
    put: operations["setSessionMode"];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/visitors": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The visitors of a session whose tokens have not expired
     * Needs the scope `read`.
     */
    get: operations["listVisitors"];
    put?: never;
    /**
     * Make a token for one person in this session
     * The token allows sending messages, reading the session with its stream and transcript, setting its mode and stopping it. It is shown only once; send it as `Authorization: Bearer <token>`. `id` names the visitor in the list and in `DELETE`. Needs the scope `submit`.
     */
    post: operations["createVisitor"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sessions/{id}/visitors/{visitorId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * End a visitor's token before it expires
     * Calls with it are refused at once; its streams end within `http.streamCheckMs`. Its messages stay. Needs the scope `submit`.
     */
    delete: operations["revokeVisitor"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/deliveries": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List deliveries, newest task first
     * Results that are sent outward: replies to chats, and calls of `callbackUrl`. Needs the scope `read`.
     */
    get: operations["listDeliveries"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tasks/{id}/deliveries": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The deliveries of a task
     * Needs the scope `read`.
     */
    get: operations["listTaskDeliveries"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/deliveries/{id}/retry": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Try a delivery again
     * A delivery that is `failed` or `unknown`. Parts that were posted are not posted again. Needs the scope `submit`.
     */
    post: operations["retryDelivery"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/callbacks/secret": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The secret that signs callbacks
     * Needs the scope `operate`.
     */
    get: operations["getCallbackSecret"];
    put?: never;
    /**
     * Change the secret that signs callbacks
     * For a day callbacks carry a second signature, by the old secret. Needs the scope `operate`.
     */
    post: operations["changeCallbackSecret"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/callbacks/endpoints": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Callback endpoints that fail
     * An endpoint that failed for five days without a success is disabled, and its deliveries fail at once. Needs the scope `read`.
     */
    get: operations["listCallbackEndpoints"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/callbacks/endpoints/enable": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Call a disabled endpoint again
     * Needs the scope `operate`.
     */
    post: operations["enableCallbackEndpoint"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/agents": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The agents that tasks can name
     * Needs the scope `read`.
     */
    get: operations["listAgents"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/agents/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read an agent
     * Needs the scope `read`.
     */
    get: operations["getAgent"];
    /**
     * Make or replace an agent
     * What the body does not have the agent has no more; `PATCH` changes a part. `If-None-Match: *` replaces none. Needs the scope `operate`.
     */
    put: operations["putAgent"];
    post?: never;
    /**
     * Remove an agent
     * Needs the scope `operate`.
     */
    delete: operations["deleteAgent"];
    options?: never;
    head?: never;
    /**
     * Change a part of an agent
     * A JSON merge patch (RFC 7396): what is absent stays, also what answers do not show, and null removes. What comes out has to be a definition as `PUT` takes it. A `url` or `baseUrl` of another origin needs `headers` and `apiKey` again, or null. Needs the scope `operate`.
     */
    patch: operations["changeAgent"];
    trace?: never;
  };
  "/v1/agents/{id}/pause": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Start no more of the tenant's tasks of an agent
     * Needs the scope `operate`.
     */
    post: operations["pauseAgent"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/agents/{id}/resume": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Start the tasks of an agent again
     * Needs the scope `operate`.
     */
    post: operations["resumeAgent"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/budgets": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What may be spent, and what was
     * Needs the scope `read`.
     */
    get: operations["listBudgets"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/budgets/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * What a budget would have done to the tasks of the last seven days
     * Changes nothing. Reads the newest tasks, at most `limits.maxPreviewed`. Needs the scope `read`.
     */
    post: operations["previewBudget"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/budgets/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a budget
     * Needs the scope `read`.
     */
    get: operations["getBudget"];
    /**
     * Make or replace a budget
     * Holds everywhere within two seconds. What its running window has cost already counts, also before the budget was made; tasks that it held go on when it has room now. `If-None-Match: *` replaces none. Needs the scope `admin`.
     */
    put: operations["putBudget"];
    post?: never;
    /**
     * Remove a budget
     * Tasks that it held go on. Needs the scope `admin`.
     */
    delete: operations["deleteBudget"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List schedules, newest first
     * A page may be short, even empty, while `nextCursor` says that there is more: a page checks `scheduler.maxSearched` schedules for `scheduler.searchMs`, and long messages end it early. With `q`, `search` says how far this page came. Needs the scope `read`.
     */
    get: operations["listSchedules"];
    put?: never;
    /**
     * Make a schedule
     * One of `phrase`, `cron`, `every`, `at` says when. An unreadable rule answers 422 `schedule.unreadable`, with the accepted forms in `detail`. `idempotencyKey`, or the header `Idempotency-Key`, makes one schedule of repeated requests. `maxLateness` and `jitter` are durations like `1.5h`, or milliseconds as a number. A `platform` that no chat service serves answers 422 `schedule.platform-off`. Needs the scope `submit`.
     */
    post: operations["createSchedule"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Read a rule and list its next times
     * Needs the scope `read`.
     */
    post: operations["previewSchedule"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a schedule
     * Needs the scope `read`.
     */
    get: operations["getSchedule"];
    put?: never;
    post?: never;
    /**
     * Remove a schedule
     * Needs the scope `submit`.
     */
    delete: operations["deleteSchedule"];
    options?: never;
    head?: never;
    /**
     * Change, pause or resume a schedule
     * It takes effect before the answer. `null` removes an optional field. A new rule makes an ended schedule active again. Needs the scope `submit`.
     */
    patch: operations["changeSchedule"];
    trace?: never;
  };
  "/v1/schedules/{id}/skip": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Skip the next occurrence of a schedule
     * Its list of runs shows it as skipped. Another occurrence than the next one answers 409 `schedule.wrong-state`. Needs the scope `submit`.
     */
    post: operations["skipOccurrence"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules/{id}/run": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Make a run of a schedule now
     * In addition to its own times, also while it is paused. Where runs may not overlap, it waits for the previous run. Needs the scope `submit`.
     */
    post: operations["runSchedule"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules/{id}/backfill": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Run the past occurrences of a range that had no run
     * Each occurrence runs once, also when the request is repeated; skipped occurrences had no run. Up to `scheduler.maxBackfill` occurrences; more answer 422 `schedule.range-too-large`. The runs follow each other unless runs may overlap. Needs the scope `submit`.
     */
    post: operations["backfillSchedule"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/schedules/{id}/runs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List runs of a schedule, newest first
     * Needs the scope `read`.
     */
    get: operations["listScheduleRuns"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/runs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List runs of all schedules, newest first
     * Needs the scope `read`.
     */
    get: operations["listRuns"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/notifications/stream": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Events of the tenant while they happen
     * Server-sent events: first `open`, then each `notification`. `kinds` chooses: names, beginnings like `run.*`, or `*`; by default all but `task.*`, of which only `task.permanently_failed`, `task.sla_breached`, `task.runaway`, `task.repeated`, `task.waiting-for-daemon` and `task.blocked`. `fleet.*` is for keys of the tenant `default` with the scope `operate`. A comment comes every 30 s. With `Last-Event-ID` (or `?lastEventId=`) later notifications are sent first; `gap` says that some may be lost: `GET /v1/runs?since=` has the runs. Needs the scope `read`.
     */
    get: operations["streamNotifications"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/queues": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What is in the queues
     * For keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["listQueues"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/queues/{name}/pause": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Start no more work of a queue
     * For keys of the tenant `default`. What runs goes on. Tasks that wait in it leave their places under caps and in shared lanes to others, and keep that of their session. Needs the scope `operate`.
     */
    post: operations["pauseQueue"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/queues/{name}/resume": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Resume a paused queue
     * For keys of the tenant `default`. Its tasks go on in their order. Needs the scope `operate`.
     */
    post: operations["resumeQueue"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/fleet": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The workers, daemons and hubs of the fleet, what they do, and snapshots of their machines
     * All of it for keys of the tenant `default`; keys of other tenants see the daemons of their own. Needs the scope `read`.
     */
    get: operations["getFleet"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/fleet/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One worker, or hub
     * For keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["getWorker"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/fleet/{id}/drain": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Let a worker, or a hub, take nothing more and end once its work has
     * For keys of the tenant `default`. It obeys at once, or at its next heartbeat. Running tasks end, however long they take; then its process ends with 0. In one process with other services only its worker stops. Needs the scope `operate`.
     */
    post: operations["drainWorker"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/scaling/{group}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How many workers a group should have
     * For keys of the tenant `default`. Of the last second. For the metrics-api scaler of KEDA: `valueLocation: desired`. Needs the scope `scaling`.
     */
    get: operations["getScaling"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/alerts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Who is alerted of what the fleet finds, and of what now
     * For keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["getAlerts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/alerts/{name}/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a test to a receiver of alerts
     * For keys of the tenant `default`. It gets an alert of the kind `test` that is resolved already. Needs the scope `operate`.
     */
    post: operations["testAlert"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/people/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Erase what a person sent to your tenant, and what came of it
     * What runs or waits is stopped first, then all is removed: tasks with inputs, outputs, journals and checkpoints, files, deliveries, questions, kept workspaces, bodies of webhooks, notifications. The same call again answers with the same erasure until it has ended. The audit log says that it was done. All tasks of the tenant are looked at, which takes a while. For keys of `default` the sign-in of the person is forgotten too. Needs the scope `admin`.
     */
    delete: operations["erasePerson"];
    options?: never;
    head?: never;
    /**
     * Disable or enable a person
     * Open sign-ins of the person follow at once: for keys of `default` in all tenants, else in your own. Needs the scope `admin`.
     */
    patch: operations["changePerson"];
    trace?: never;
  };
  "/v1/erasures/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read how far an erasure is, and what it removed
     * Needs the scope `operate`.
     */
    get: operations["getErasure"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/daemons": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The registered daemons, and what they do
     * Needs the scope `read`.
     */
    get: operations["listDaemons"];
    put?: never;
    /**
     * Register a daemon
     * The token is shown this once; the daemon connects to `/hub` with it. What the daemon declares never exceeds this. Needs the scope `operate`.
     */
    post: operations["createDaemon"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/daemons/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a daemon
     * Needs the scope `read`.
     */
    get: operations["getDaemon"];
    put?: never;
    post?: never;
    /**
     * Remove a daemon
     * Its token opens nothing any more, and its connection is closed (4401). Tasks that name it as their target fail. Needs the scope `operate`.
     */
    delete: operations["deleteDaemon"];
    options?: never;
    head?: never;
    /**
     * Change, disable or enable a daemon
     * What is not named stays. Disabling closes its connection (4401); narrower capabilities hold for the next task. Needs the scope `operate`.
     */
    patch: operations["changeDaemon"];
    trace?: never;
  };
  "/v1/daemons/{id}/rotate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Give a daemon another token
     * The token is shown this once. The former one opens nothing any more, and its connection is closed (4401). Needs the scope `operate`.
     */
    post: operations["rotateDaemonToken"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/providers": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What models of providers may be called, and are
     * For keys of the tenant `default`. The last called first, at most `throttle.maxRecords`. Needs the scope `read`.
     */
    get: operations["listProviders"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/metrics": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How the queues are doing
     * Figures of the tenant; with `scope=fleet` those of the fleet, for keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["getQueueMetrics"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/metrics/history": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How the queues were doing, minute by minute
     * Figures of the tenant; with `scope=fleet` those of the fleet, for keys of the tenant `default`. Minutes are kept for `metrics.historyMs`, of other tenants for `metrics.tenantHistoryMs`; earlier ones are 0 and null. Needs the scope `read`.
     */
    get: operations["getMetricsHistory"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/metrics/agents": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How the agents were doing: failures, durations, cost
     * Of all attempts in the window, the hour that runs included. Hours are kept for `metrics.agentsMs`, of other tenants than `default` for `metrics.tenantAgentsMs`, for up to `metrics.maxAgents` agents each. Needs the scope `read`.
     */
    get: operations["listAgentMetrics"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/attention": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What needs attention now
     * At most 100, the worst first, each until it is resolved or somebody acknowledges it. What is of the installation, as Redis, workers, queues and the load, is there for keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["listAttention"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/attention/{id}/acknowledge": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Note that somebody knows of it
     * It is listed no more unless it becomes worse, or is resolved and comes again. One of the installation needs a key of the tenant `default`. Needs the scope `operate`.
     */
    post: operations["acknowledgeAttention"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/now": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What runs, and how many tasks wait for what
     * Counts are up to a second old, and older where hundreds of tenants have work; those of many waiting tasks are estimated from the oldest ones. Needs the scope `read`.
     */
    get: operations["getNow"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tenants": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The tenants
     * For keys of the tenant `default`. Needs the scope `admin`.
     */
    get: operations["listTenants"];
    put?: never;
    /**
     * Make a tenant
     * For keys of the tenant `default`. Needs the scope `admin`.
     */
    post: operations["createTenant"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tenants/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a tenant
     * For keys of the tenant `default`. Needs the scope `admin`.
     */
    get: operations["getTenant"];
    put?: never;
    post?: never;
    /**
     * Delete a tenant with everything it owns
     * For keys of the tenant `default`. Its keys end, its running tasks are aborted, and its data can no longer be read. Its name is free at once; a new tenant of that name shares nothing with it. Needs the scope `admin`.
     */
    delete: operations["deleteTenant"];
    options?: never;
    head?: never;
    /**
     * Change, disable or enable a tenant
     * For keys of the tenant `default`. Holds everywhere within two seconds. What waits is granted at once where limits have room for it now. Needs the scope `admin`.
     */
    patch: operations["changeTenant"];
    trace?: never;
  };
  "/v1/tenants/{id}/limits/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * What limits would have done to the tasks of the last day
     * For keys of the tenant `default`. Changes nothing. Reads the newest tasks, at most `limits.maxPreviewed`. Needs the scope `admin`.
     */
    post: operations["previewLimits"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/limits": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The limits of the fleet
     * For keys of the tenant `default`. Needs the scope `read`.
     */
    get: operations["getFleetLimits"];
    put?: never;
    post?: never;
    /**
     * Let the limits of the configuration hold again
     * For keys of the tenant `default`. Needs the scope `admin`.
     */
    delete: operations["resetFleetLimits"];
    options?: never;
    head?: never;
    /**
     * Change limits of the fleet
     * For keys of the tenant `default`. What is not named stays, null takes a figure away. Holds everywhere within two seconds, and after restarts; what runs above a lowered limit runs on. Needs the scope `admin`.
     */
    patch: operations["changeFleetLimits"];
    trace?: never;
  };
  "/v1/limits/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * What limits of the fleet would have done to the tasks of the last day
     * For keys of the tenant `default`. Changes nothing. Reads the newest tasks of all tenants, at most `limits.maxPreviewed`. Limits of tenants are left out. Needs the scope `admin`.
     */
    post: operations["previewFleetLimits"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tenants/{id}/keys": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The keys of a tenant
     * An administrator of another tenant than `default` reaches the keys of that tenant. Needs the scope `admin`.
     */
    get: operations["listKeys"];
    put?: never;
    /**
     * Make a key
     * The secret is shown this once. An administrator of another tenant than `default` reaches the keys of that tenant. Needs the scope `admin`.
     */
    post: operations["createKey"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/tenants/{id}/keys/{keyId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Revoke a key
     * An administrator of another tenant than `default` reaches the keys of that tenant. Needs the scope `admin`.
     */
    delete: operations["revokeKey"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/sign-in-links": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Make a link that signs a browser in once
     * The browser then acts with the key of this request, until its sign-in or the key ends. Needs the scope `read`.
     */
    post: operations["createSignInLink"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/checks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What the fleet needs, and whether it has it
     * For keys of the tenant `default`. The checks of `npx muster doctor` that need no terminal on the machine: what `GET /v1/attention` has of the installation, acknowledged ones too, and what is well. Reads at most 2000 records of each kind and of 100 tenants. Needs the scope `admin`.
     */
    get: operations["listChecks"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/configuration": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The effective configuration, and what differs from its defaults
     * For keys of the tenant `default`. That of the process that answers; workers on other machines may have another. Secrets are never shown. Needs the scope `admin`.
     */
    get: operations["getConfiguration"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/people": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * People who signed in at the identity provider
     * Keys of the tenant `default` see all of them, others those with a role in their tenant. Needs the scope `admin`.
     */
    get: operations["listPeople"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/people/{id}/sign-ins": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Sign a person out of all browsers
     * For keys of the tenant `default`. The roles stay: the person may sign in again. Needs the scope `admin`.
     */
    delete: operations["endSignIns"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/audit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Who changed what, when, from where
     * Entries of your tenant. With `format=ndjson` the answer is `application/x-ndjson`: the export. Needs the scope `admin`.
     */
    get: operations["listAudit"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/hooks/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Receive a webhook of a provider, and make its task or resume runs
     * The provider's signature is the key: provider `hmac` reads it from the header in `options.header`, provider `none` needs none. The body must not be compressed. Needs no key.
     */
    post: operations["receiveWebhook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/hooks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List webhook endpoints
     * Needs the scope `read`.
     */
    get: operations["listHooks"];
    put?: never;
    /**
     * Make a webhook endpoint
     * Needs the scope `operate`.
     */
    post: operations["createHook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/hooks/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a webhook endpoint
     * Needs the scope `read`.
     */
    get: operations["getHook"];
    put?: never;
    post?: never;
    /**
     * Delete a webhook endpoint
     * Needs the scope `operate`.
     */
    delete: operations["deleteHook"];
    options?: never;
    head?: never;
    /**
     * Change a webhook endpoint
     * Needs the scope `operate`.
     */
    patch: operations["changeHook"];
    trace?: never;
  };
  "/v1/hooks/{id}/deliveries": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the newest deliveries of a webhook endpoint
     * Also those that were refused. `webhooks.deliveries` says how many are kept and for how long. Headers, which hold signatures, never are. Needs the scope `read`.
     */
    get: operations["listHookDeliveries"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/hooks/{id}/deliveries/{delivery}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a delivery of a webhook endpoint with its payload
     * Needs the scope `read`.
     */
    get: operations["getHookDelivery"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/hooks/{id}/deliveries/{delivery}/replay": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Make another task of a delivery
     * With the hook as it is now. Errors: `hook.not-replayable` for a delivery whose sender was not proved, or that is not kept whole. Needs the scope `operate`.
     */
    post: operations["replayHookDelivery"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/hooks/{id}/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Make a task as a sender of this webhook endpoint would
     * The proof is left out: it shows what templates, priority and agent make of an event. A disabled hook can be tested, too. Needs the scope `operate`.
     */
    post: operations["testHook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/chat/{platform}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Answer a chat platform that checks this address
     * WhatsApp does so, with the verify token of its app. Needs no key.
     */
    get: operations["verifyChatWebhook"];
    put?: never;
    /**
     * Receive what a chat platform sends
     * The platform's signature is the key. Its messages become messages of sessions before they are answered with 200. Needs no key.
     */
    post: operations["receiveChatUpdate"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/hub": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Connect a daemon, by WebSocket
     * Without `Upgrade: websocket` the answer is 426. `npx muster daemon` and `muster/daemon` connect here. Needs no key.
     */
    get: operations["connectDaemon"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/hub/schema.json": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the schema of the messages between daemons and the hub
     * Needs no key.
     */
    get: operations["getHubSchema"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/healthz": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether this process is up
     * Needs no key.
     */
    get: operations["getHealth"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/readyz": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether this process can take work
     * Needs no key.
     */
    get: operations["getReadiness"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/metrics": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Metrics of this process, as Prometheus reads them
     * Needs no key.
     */
    get: operations["getMetrics"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    TaskRequest: {
      /** The agent that runs the work. */
      agent: string;
      /** A text; for an agent whose input has a schema, JSON that fits it, or a text with such JSON. */
      input: string | number | boolean | unknown[] | {
        [key: string]: unknown;
      };
      /** Given to the model after its agent's own instructions. */
      system?: string | undefined;
      /** The conversation in which it is a turn. */
      session?: string | undefined;
      /** From 1 to 10, the most urgent, or its name. */
      priority?: (number | ("low" | "normal" | "high" | "critical")) | undefined;
      /**
       * What becomes of a message that meets work of its session.
       */
      mode?: ("queue" | "interrupt" | "collect" | "steer" | "latest" | "reject") | undefined;
      /**
       * `api` by default, `delegation` with `parentTaskId`; the others but `proactive` are given by Muster itself.
       */
      source?: ("chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation") | undefined;
      /** Of the trigger, hook or schedule that it came from. */
      sourceId?: string | undefined;
      /** Where the answer is delivered. */
      channel?: string | undefined;
      /**
       * Format: date-time
       * It fails when it has not ended by then.
       */
      deadline?: string | undefined;
      /**
       * Format: date-time
       * It should have ended by then, and goes before others of its priority for that.
       */
      sla?: string | undefined;
      /**
       * Format: date-time
       * It starts no earlier.
       */
      scheduledFor?: string | undefined;
      /** How long it may take, ms or text as `24h`: until then calls of its model may go by batches, at their price. */
      within?: (number | string) | undefined;
      /** What its worker must have. */
      requirements?: {
        /** What the worker must be able to do. */
        capabilities?: string[] | undefined;
        /** The machine that must run it. */
        targetDaemon?: string | undefined;
        /** Machines that must not run it. */
        excludedDaemons?: string[] | undefined;
        /** About how long it runs, in milliseconds. */
        estimatedDurationMs?: number | undefined;
        /** Megabytes of memory that it needs. */
        memoryMb?: number | undefined;
        /** Whether it computes much. */
        cpuIntensive?: boolean | undefined;
      } | undefined;
      /** Its bounds: attempts, delays and times. */
      execution?: {
        /** Longest run of one attempt, in milliseconds. */
        timeoutMs?: number | undefined;
        /** Attempts allowed, the first one included. */
        maxAttempts?: number | undefined;
        /** Before the second attempt, in milliseconds. */
        retryDelayMs?: number | undefined;
        /**
         * How the delay grows.
         */
        retryBackoff?: ("exponential" | "linear") | undefined;
        /** Whether a task that runs at its deadline is aborted, and fails for good. */
        deadlineAborts?: boolean | undefined;
      } | undefined;
      /** The task that delegated it. */
      parentTaskId?: string | undefined;
      /** The task that it repeats: when that was untrusted, so is this. */
      rerunOf?: string | undefined;
      /** The caller's own id for work that belongs together. */
      correlationId?: string | undefined;
      /** Data for the agent. */
      context?: {
        [key: string]: unknown;
      } | undefined;
      /** Data of the caller, which Muster does not read. */
      metadata?: {
        [key: string]: unknown;
      } | undefined;
      /** Files that the agent is given. */
      attachments?: components["schemas"]["Attachment"][] | undefined;
      /**
       * Format: uri
       * Address that is called when the work has ended.
       */
      callbackUrl?: string | undefined;
    };
    Attachment: {
      /** Of `POST /v1/uploads`. */
      uploadId?: string | undefined;
      /**
       * Format: uri
       * Fetched before the first attempt; a public address.
       */
      url?: string | undefined;
      /** Such as `image/png`. */
      mediaType?: string | undefined;
      /** By default that of the upload, or the last part of the address. */
      name?: string | undefined;
    };
    /**
     * @example {
     *       "items": [
     *         {
     *           "agent": "echo",
     *           "input": "hello",
     *           "idempotencyKey": "order-17"
     *         }
     *       ]
     *     }
     */
    BulkRequest: {
      /** Each as for `POST /v1/tasks`, and `idempotencyKey`. */
      items: unknown[];
    } | unknown[];
    ActionRequest: {
      /**
       * `retry`, `cancel`, or `discard`: remove the records of ended tasks.
       */
      action: "retry" | "cancel" | "discard";
      /** Only these tasks, `actions.maxIds` at most, in each status that the action applies to unless `filter` says more. */
      ids?: string[] | undefined;
      /** For the records of cancelled tasks. */
      reason?: string | undefined;
      /** Only count the tasks. */
      dryRun?: boolean | undefined;
      /** As for `GET /v1/tasks`. Without `status`: `retry` and `discard` select permanently failed tasks, `cancel` all that have not ended. */
      filter: components["schemas"]["ActionFilter"];
    } | {
      /**
       * `retry`, `cancel`, or `discard`: remove the records of ended tasks.
       */
      action: "retry" | "cancel" | "discard";
      /** Only these tasks, `actions.maxIds` at most, in each status that the action applies to unless `filter` says more. */
      ids: string[];
      /** For the records of cancelled tasks. */
      reason?: string | undefined;
      /** Only count the tasks. */
      dryRun?: boolean | undefined;
    };
    /**
     * Where the task is.
     */
    TaskStatus: "pending" | "queued" | "scheduled" | "running" | "completed" | "failed" | "timeout" | "suspended" | "cancelled" | "stale" | "skipped" | "permanently_failed";
    ActionFilter: {
      /** One or several statuses. */
      status?: (components["schemas"]["TaskStatus"] | components["schemas"]["TaskStatus"][]) | undefined;
      /** Run by this agent. */
      agent?: string | undefined;
      /**
       * From this source.
       */
      source?: ("chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation") | undefined;
      /** Of this session. */
      session?: string | undefined;
      /** Made by this schedule. */
      schedule?: string | undefined;
      /** With this correlation id. */
      correlation?: string | undefined;
      /** Delegated by this task. */
      parent?: string | undefined;
      /** Made by this trigger, hook or schedule. */
      sourceId?: string | undefined;
      /** Whose last attempt failed with this code. */
      code?: string | undefined;
      /**
       * Format: date-time
       * Accepted at or after.
       */
      since?: string | undefined;
      /**
       * Format: date-time
       * Accepted before.
       */
      until?: string | undefined;
      /** Text in the input, output, id, session or error. */
      q?: string | undefined;
      /** Whose last attempt this worker ran. */
      worker?: string | undefined;
      /** Whose last attempt a worker of this release ran. */
      release?: string | undefined;
      /** A field of its metadata, `key:value`; `key:` for any value. Several, which all have to be there, are repeated. */
      metadata?: (string | string[]) | undefined;
    };
    /**
     * @example {
     *       "reason": "no longer needed"
     *     }
     */
    CancelRequest: {
      /** For the record and the timeline. */
      reason?: string | undefined;
    };
    /**
     * @example {
     *       "fromStep": 4
     *     }
     */
    RetryRequest: {
      /** The `seq` of an entry of its journal: a new task that has the journal up to there, and goes on with it. Of any ended task. */
      fromStep?: number | undefined;
    };
    /**
     * @example {
     *       "text": "and in French, please"
     *     }
     */
    InputRequest: {
      /** What the running task is given. */
      text: string;
      /** Who wrote it; by default the user of the running task. */
      user?: string | undefined;
    };
    /**
     * @example {
     *       "priority": 9
     *     }
     */
    PriorityRequest: {
      /** From 1 to 10, the most urgent, or its name. */
      priority: number | ("low" | "normal" | "high" | "critical");
    };
    /**
     * @example {
     *       "answer": "yes"
     *     }
     */
    QuestionAnswer: {
      /** One of the choices, what fits the schema, or else a text. */
      answer: unknown;
    };
    /**
     * @example {
     *       "checkpoint": {
     *         "page": 4,
     *         "suspend": {
     *           "untilMs": 1777626000000
     *         }
     *       }
     *     }
     */
    CheckpointRequest: {
      /** A text, or JSON; with `suspend` (`{ untilMs }`, `{ event, match, timeoutMs }` or `{ ask: { question, choices, ... } }`) the run waits without a slot once its agent has answered. */
      checkpoint: unknown;
    };
    /**
     * @example {
     *       "name": "order.paid",
     *       "data": {
     *         "order": "A-17",
     *         "amount": 1200
     *       },
     *       "id": "payment-4711"
     *     }
     */
    EventRequest: {
      /** What runs wait for by `context.waitFor(name)`. */
      name: string;
      /**
       * JSON that the runs get. Runs with `match` compare fields of it.
       * @default null
       */
      data?: unknown | undefined;
      /** Names the event: what is sent again under its id resumes no run twice, for a day. By default a new one. */
      id?: string | undefined;
      /**
       * Whether it goes to all runs that wait for it, or to one: the first by priority, then age.
       * @default all
       */
      deliver?: ("all" | "one") | undefined;
    };
    MessageRequest: {
      /** What the person wrote; commands like `/stop` are applied. */
      text: string;
      /** By default chosen by `routing`. */
      agent?: string | undefined;
      /** Where it was written, `webchat` by default; chooses the mode. */
      surface?: string | undefined;
      /**
       * Mode of this message when it meets a running task.
       */
      mode?: ("queue" | "interrupt" | "collect" | "steer" | "latest" | "reject" | "default") | undefined;
      /** Who wrote it. */
      user?: string | undefined;
      /** Orders the messages of the session; by default they are ordered by arrival. */
      sequence?: number | undefined;
      /** Data for the agent. */
      context?: {
        [key: string]: unknown;
      } | undefined;
      /** Files that the agent is given. */
      attachments?: components["schemas"]["Attachment"][] | undefined;
    };
    EndpointRequest: {
      /**
       * Format: uri
       * The address.
       */
      url: string;
    };
    /**
     * @example {
     *       "kind": "http",
     *       "url": "https://writer.example.com/run",
     *       "secret": "a-secret-of-yours"
     *     }
     */
    AgentDefinition: {
      /**
       * What it is.
       * @constant
       */
      kind: "echo";
      /** For people. */
      description?: string | undefined;
      /** Longest run of one attempt, in milliseconds. */
      timeoutMs?: number | undefined;
      /** Attempts allowed, the first one included. */
      maxAttempts?: number | undefined;
      /** Before the second attempt, in milliseconds. */
      retryDelayMs?: number | undefined;
      /**
       * How the delay grows.
       */
      retryBackoff?: ("exponential" | "linear") | undefined;
      /** Whether a task that runs at its deadline is aborted, and fails for good. */
      deadlineAborts?: boolean | undefined;
      /** Of its code. Runs of an agent of the configuration go on with the version that they began with. */
      version?: string | undefined;
      /** What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class. */
      retries?: {
        [key: string]: "retry" | "stop" | "wait";
      } | undefined;
      /** Lane of the configuration for its tasks without a session. */
      lane?: string | undefined;
      /** How long a run that waits without a slot keeps its lane: ms, or text as `5 minutes`. */
      holdLane?: (number | string) | undefined;
      /** Its tasks that run at once, per tenant. */
      maxRunning?: number | undefined;
      /** When equal inputs in a row are warned of and held; false for never. */
      sameInput?: (false | {
        /** The tenant is notified of so many in a row; 0 for never. */
        warn?: number | undefined;
        /** After so many in a row further ones are held; 0 for no bound. */
        hold?: number | undefined;
        /** They count together within so long. */
        windowMs?: number | undefined;
        /** Sources of tasks that are counted. */
        sources?: ("chat" | "api" | "proactive" | "webhook" | "delegation")[] | undefined;
      }) | undefined;
    } | {
      /**
       * What it is.
       * @constant
       */
      kind: "openai";
      /**
       * Format: uri
       * Address of an API that is compatible with that of OpenAI.
       */
      baseUrl?: string | undefined;
      /** The key of the model; it is never shown. */
      apiKey?: string | undefined;
      /** Name of the model. */
      model: string;
      /** Given to the model after its agent's own instructions. */
      system?: string | undefined;
      /** Sampling temperature of the model. */
      temperature?: number | undefined;
      /** Bound of one answer of the model. */
      maxOutputTokens?: number | undefined;
      /** Names that parameters of its calls have instead; null leaves one out. */
      parameters?: {
        [key: string]: string | null;
      } | undefined;
      /** Calls of the model that one attempt may make. */
      maxSteps?: number | undefined;
      /** How long its tasks may take, ms or text as `24h`: until then its calls may go by batches. */
      within?: (number | string) | undefined;
      /** Price of a million tokens, in millionths of a dollar. */
      priceMicroUsdPerMillion?: {
        /** What the agent is given. */
        input: number;
        /** The final text. */
        output: number;
      } | undefined;
      /** Whether `/schedule` lines of its output are applied. */
      directives?: boolean | undefined;
      /** The old name of `directives`, still read. */
      writs?: boolean | undefined;
      /** For people. */
      description?: string | undefined;
      /** Longest run of one attempt, in milliseconds. */
      timeoutMs?: number | undefined;
      /** Attempts allowed, the first one included. */
      maxAttempts?: number | undefined;
      /** Before the second attempt, in milliseconds. */
      retryDelayMs?: number | undefined;
      /**
       * How the delay grows.
       */
      retryBackoff?: ("exponential" | "linear") | undefined;
      /** Whether a task that runs at its deadline is aborted, and fails for good. */
      deadlineAborts?: boolean | undefined;
      /** Of its code. Runs of an agent of the configuration go on with the version that they began with. */
      version?: string | undefined;
      /** What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class. */
      retries?: {
        [key: string]: "retry" | "stop" | "wait";
      } | undefined;
      /** Lane of the configuration for its tasks without a session. */
      lane?: string | undefined;
      /** How long a run that waits without a slot keeps its lane: ms, or text as `5 minutes`. */
      holdLane?: (number | string) | undefined;
      /** Its tasks that run at once, per tenant. */
      maxRunning?: number | undefined;
      /** When equal inputs in a row are warned of and held; false for never. */
      sameInput?: (false | {
        /** The tenant is notified of so many in a row; 0 for never. */
        warn?: number | undefined;
        /** After so many in a row further ones are held; 0 for no bound. */
        hold?: number | undefined;
        /** They count together within so long. */
        windowMs?: number | undefined;
        /** Sources of tasks that are counted. */
        sources?: ("chat" | "api" | "proactive" | "webhook" | "delegation")[] | undefined;
      }) | undefined;
    } | {
      /**
       * What it is.
       * @constant
       */
      kind: "http";
      /**
       * Format: uri
       * The address.
       */
      url: string;
      /** Headers that are sent besides. */
      headers?: {
        [key: string]: string;
      } | undefined;
      /** What signs; it is never shown again. */
      secret?: string | undefined;
      /** Whether `/schedule` lines of its output are applied. */
      directives?: boolean | undefined;
      /** The old name of `directives`, still read. */
      writs?: boolean | undefined;
      /** For people. */
      description?: string | undefined;
      /** Longest run of one attempt, in milliseconds. */
      timeoutMs?: number | undefined;
      /** Attempts allowed, the first one included. */
      maxAttempts?: number | undefined;
      /** Before the second attempt, in milliseconds. */
      retryDelayMs?: number | undefined;
      /**
       * How the delay grows.
       */
      retryBackoff?: ("exponential" | "linear") | undefined;
      /** Whether a task that runs at its deadline is aborted, and fails for good. */
      deadlineAborts?: boolean | undefined;
      /** Of its code. Runs of an agent of the configuration go on with the version that they began with. */
      version?: string | undefined;
      /** What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class. */
      retries?: {
        [key: string]: "retry" | "stop" | "wait";
      } | undefined;
      /** Lane of the configuration for its tasks without a session. */
      lane?: string | undefined;
      /** How long a run that waits without a slot keeps its lane: ms, or text as `5 minutes`. */
      holdLane?: (number | string) | undefined;
      /** Its tasks that run at once, per tenant. */
      maxRunning?: number | undefined;
      /** When equal inputs in a row are warned of and held; false for never. */
      sameInput?: (false | {
        /** The tenant is notified of so many in a row; 0 for never. */
        warn?: number | undefined;
        /** After so many in a row further ones are held; 0 for no bound. */
        hold?: number | undefined;
        /** They count together within so long. */
        windowMs?: number | undefined;
        /** Sources of tasks that are counted. */
        sources?: ("chat" | "api" | "proactive" | "webhook" | "delegation")[] | undefined;
      }) | undefined;
    } | {
      /**
       * What it is.
       * @constant
       */
      kind: "daemon";
      /** What the worker must be able to do. */
      capabilities?: string[] | undefined;
      /** Whether messages may go into its runs. */
      takesInput?: boolean | undefined;
      /** Folder of each session, which a daemon has on its own disk. */
      workspace?: ({
        /** Address of a repository that it begins as a checkout of. */
        git: string & (unknown & unknown & unknown);
        /** Branch, tag, or commit in full. */
        ref?: (string & (unknown & unknown)) | undefined;
      } | {
        /**
         * It begins empty.
         * @constant
         */
        keep: true;
      }) | undefined;
      /** Whether `/schedule` lines of its output are applied. */
      directives?: boolean | undefined;
      /** The old name of `directives`, still read. */
      writs?: boolean | undefined;
      /** For people. */
      description?: string | undefined;
      /** Longest run of one attempt, in milliseconds. */
      timeoutMs?: number | undefined;
      /** Attempts allowed, the first one included. */
      maxAttempts?: number | undefined;
      /** Before the second attempt, in milliseconds. */
      retryDelayMs?: number | undefined;
      /**
       * How the delay grows.
       */
      retryBackoff?: ("exponential" | "linear") | undefined;
      /** Whether a task that runs at its deadline is aborted, and fails for good. */
      deadlineAborts?: boolean | undefined;
      /** Of its code. Runs of an agent of the configuration go on with the version that they began with. */
      version?: string | undefined;
      /** What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class. */
      retries?: {
        [key: string]: "retry" | "stop" | "wait";
      } | undefined;
      /** Lane of the configuration for its tasks without a session. */
      lane?: string | undefined;
      /** How long a run that waits without a slot keeps its lane: ms, or text as `5 minutes`. */
      holdLane?: (number | string) | undefined;
      /** Its tasks that run at once, per tenant. */
      maxRunning?: number | undefined;
      /** When equal inputs in a row are warned of and held; false for never. */
      sameInput?: (false | {
        /** The tenant is notified of so many in a row; 0 for never. */
        warn?: number | undefined;
        /** After so many in a row further ones are held; 0 for no bound. */
        hold?: number | undefined;
        /** They count together within so long. */
        windowMs?: number | undefined;
        /** Sources of tasks that are counted. */
        sources?: ("chat" | "api" | "proactive" | "webhook" | "delegation")[] | undefined;
      }) | undefined;
    } | {
      /**
       * From the configuration only.
       * @constant
       */
      kind: "function";
    } | {
      /**
       * From the configuration only.
       * @constant
       */
      kind: "command";
    };
    /**
     * Members of `AgentDefinition` to change, each with its new value, or null to remove it.
     * @example {
     *       "description": "Writes release notes",
     *       "maxRunning": 2,
     *       "timeoutMs": null
     *     }
     */
    AgentPatch: {
      [key: string]: unknown;
    };
    /**
     * @example {
     *       "reason": "The release of this morning broke it"
     *     }
     */
    AgentPause: {
      /** For people who ask why tasks wait. */
      reason?: string | undefined;
    };
    /**
     * @example {
     *       "scope": "agent",
     *       "of": "writer",
     *       "per": "day",
     *       "hardMicroUsd": 5000000,
     *       "atHard": "pause"
     *     }
     */
    BudgetRule: {
      /**
       * What it counts.
       */
      scope: "tenant" | "agent" | "session" | "schedule" | "task" | "key";
      /**
       * Which agent, session, schedule, first task or key (its id); null gives each its own count. Null for a tenant.
       * @default null
       */
      of?: (string | null) | undefined;
      /**
       * The length of a window, after which the count starts again at 0; `total` has no end.
       */
      per: "hour" | "day" | "month" | "total";
      /**
       * Zone in which its days and months begin.
       * @default UTC
       */
      tz?: string | undefined;
      /**
       * Spending this much, in millionths of a US dollar, notifies once a window.
       * @default null
       */
      softMicroUsd?: (number | null) | undefined;
      /**
       * No more than this is spent in a window, in millionths of a US dollar.
       * @default null
       */
      hardMicroUsd?: (number | null) | undefined;
      /**
       * `deny` fails the task, `pause` holds it until the next window or a raise, `downgrade` takes the model `downgradeTo`.
       * @default deny
       */
      atHard?: ("deny" | "pause" | "downgrade") | undefined;
      /**
       * The model of a downgrade.
       * @default null
       */
      downgradeTo?: (string | null) | undefined;
    };
    ScheduleRequest: {
      /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
      phrase?: string | undefined;
      /** Five fields, or six with seconds first. */
      cron?: string | undefined;
      /** A duration: `5m`, `1.5h`, `1d`. */
      every?: string | undefined;
      /** ISO 8601; without an offset it is a wall time in `tz`. */
      at?: string | undefined;
      /** The agent that runs. */
      agent: string;
      /** What the agent is given as input. */
      message: string;
      /** What the agent is given besides. */
      context?: ({
        [key: string]: unknown;
      } | null) | undefined;
      /** For people. */
      name?: (string | null) | undefined;
      /** IANA zone; by default the host's. */
      tz?: string | undefined;
      /** Of its runs. */
      priority?: ((number | ("low" | "normal" | "high" | "critical")) | null) | undefined;
      /** How long each run may take, ms or text as `24h`: until then calls of its model may go by batches, at their price. */
      within?: ((number | string) | null) | undefined;
      /** With `platform`: the chat that results are sent to. */
      channel?: (string | null) | undefined;
      /** With `channel`: the chat that results are sent to; for `webchat` it is a session. */
      platform?: (("telegram" | "slack" | "discord" | "whatsapp" | "webchat") | null) | undefined;
      /** Results are posted here. */
      callbackUrl?: (string | null) | undefined;
      /** `skip`, `once`, `all`, or `all(20)` for the newest 20. */
      missed?: string | undefined;
      /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
      maxLateness?: ((string | number) | null) | undefined;
      /**
       * What becomes of an occurrence while the run before has not ended.
       */
      overlap?: ("skip" | "queue" | "cancel-other" | "allow") | undefined;
      /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
      jitter?: ((string | number) | null) | undefined;
      /** Never spread over the full hour, whatever the configuration says. */
      exact?: boolean | undefined;
      /** The last time that counts. */
      until?: (string | null) | undefined;
      /** It ends after so many runs. */
      maxRuns?: (number | null) | undefined;
      /** The same key with the same request gives the same schedule. */
      idempotencyKey?: string | undefined;
    };
    /**
     * Only active schedules fire.
     */
    ScheduleStatus: "active" | "paused" | "completed" | "failed" | "canceled";
    /**
     * @example {
     *       "phrase": "every monday at 09:00",
     *       "tz": "Europe/Berlin"
     *     }
     */
    SchedulePreviewRequest: {
      /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
      phrase?: string | undefined;
      /** Five fields, or six with seconds first. */
      cron?: string | undefined;
      /** A duration: `5m`, `1.5h`, `1d`. */
      every?: string | undefined;
      /** ISO 8601; without an offset it is a wall time in `tz`. */
      at?: string | undefined;
      /** IANA zone; by default the host's. */
      tz?: string | undefined;
      /**
       * Format: date-time
       * From when on; by default now.
       */
      from?: string | undefined;
      /**
       * How many times.
       * @default 3
       */
      count?: number | undefined;
    };
    SchedulePatch: {
      /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
      phrase?: string | undefined;
      /** Five fields, or six with seconds first. */
      cron?: string | undefined;
      /** A duration: `5m`, `1.5h`, `1d`. */
      every?: string | undefined;
      /** ISO 8601; without an offset it is a wall time in `tz`. */
      at?: string | undefined;
      /** The agent that runs. */
      agent?: string | undefined;
      /** What the agent is given as input. */
      message?: string | undefined;
      /** What the agent is given besides. */
      context?: ({
        [key: string]: unknown;
      } | null) | undefined;
      /** For people. */
      name?: (string | null) | undefined;
      /** IANA zone; by default the host's. */
      tz?: string | undefined;
      /** Of its runs. */
      priority?: ((number | ("low" | "normal" | "high" | "critical")) | null) | undefined;
      /** How long each run may take, ms or text as `24h`: until then calls of its model may go by batches, at their price. */
      within?: ((number | string) | null) | undefined;
      /** With `platform`: the chat that results are sent to. */
      channel?: (string | null) | undefined;
      /** With `channel`: the chat that results are sent to; for `webchat` it is a session. */
      platform?: (("telegram" | "slack" | "discord" | "whatsapp" | "webchat") | null) | undefined;
      /** Results are posted here. */
      callbackUrl?: (string | null) | undefined;
      /** `skip`, `once`, `all`, or `all(20)` for the newest 20. */
      missed?: string | undefined;
      /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
      maxLateness?: ((string | number) | null) | undefined;
      /**
       * What becomes of an occurrence while the run before has not ended.
       */
      overlap?: ("skip" | "queue" | "cancel-other" | "allow") | undefined;
      /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
      jitter?: ((string | number) | null) | undefined;
      /** Never spread over the full hour, whatever the configuration says. */
      exact?: boolean | undefined;
      /** The last time that counts. */
      until?: (string | null) | undefined;
      /** It ends after so many runs. */
      maxRuns?: (number | null) | undefined;
      /**
       * Pauses or resumes it.
       */
      status?: ("active" | "paused") | undefined;
    };
    /**
     * @example {
     *       "occurrence": "2026-06-01T07:00:00.000Z"
     *     }
     */
    SkipRequest: {
      /**
       * Format: date-time
       * The next occurrence, `nextFireAt` of the schedule.
       */
      occurrence: string;
    };
    /**
     * @example {
     *       "since": "2026-05-01T00:00:00Z",
     *       "until": "2026-05-07T23:59:59Z"
     *     }
     */
    BackfillRequest: {
      /**
       * Format: date-time
       * The first occurrence of the range.
       */
      since: string;
      /**
       * Format: date-time
       * The last occurrence of the range; by default now.
       */
      until?: string | undefined;
      /**
       * Only list the occurrences that would run.
       * @default false
       */
      dryRun?: boolean | undefined;
    };
    /**
     * @example {
     *       "disabled": true
     *     }
     */
    PersonPatch: {
      /** True takes the roles, false gives them back. */
      disabled: boolean;
    };
    /**
     * @example {
     *       "name": "laptop",
     *       "capabilities": [
     *         "browser",
     *         "code"
     *       ],
     *       "slots": 3
     *     }
     */
    NewDaemon: {
      /** For people and for `requirements.targetDaemon`; unique in the tenant. */
      name: string;
      /**
       * Only tasks of this user of the tenant reach it; null for tasks of all.
       * @default null
       */
      user?: (string | null) | undefined;
      /**
       * What it may declare; null for whatever it declares.
       * @default null
       */
      capabilities?: (string[] | null) | undefined;
      /**
       * Tasks that it may run at once; null for as many as it declares. At most `hub.maxSlotsPerDaemon`.
       * @default null
       */
      slots?: (number | null) | undefined;
      /**
       * Agents whose tasks it may run; null for any.
       * @default null
       */
      agents?: (string[] | null) | undefined;
      /**
       * Whether its token opens anything.
       * @default true
       */
      enabled?: boolean | undefined;
    };
    /**
     * @example {
     *       "enabled": false
     *     }
     */
    DaemonPatch: {
      /** For people and for `requirements.targetDaemon`; unique in the tenant. */
      name?: string | undefined;
      /** Only tasks of this user of the tenant reach it; null for tasks of all. */
      user?: (string | null) | undefined;
      /** What it may declare; null for whatever it declares. */
      capabilities?: (string[] | null) | undefined;
      /** Tasks that it may run at once; null for as many as it declares. At most `hub.maxSlotsPerDaemon`. */
      slots?: (number | null) | undefined;
      /** Agents whose tasks it may run; null for any. */
      agents?: (string[] | null) | undefined;
      /** Whether its token opens anything. */
      enabled?: boolean | undefined;
    };
    /**
     * @example {
     *       "id": "acme",
     *       "name": "Acme Ltd"
     *     }
     */
    NewTenant: {
      /** The name in addresses and headers. */
      id: string;
      /** For people; by default the id. */
      name?: string | undefined;
      /**
       * Whether its keys open nothing and its work waits.
       * @default false
       */
      disabled?: boolean | undefined;
      /**
       * Null takes those of the configuration.
       * @default null
       */
      limits?: (components["schemas"]["TenantLimits"] | null) | undefined;
    };
    TenantLimits: {
      /**
       * About how many bytes of Redis's memory it may take. Null is no limit.
       * @default 1073741824
       */
      storedBytes?: (number | null) | undefined;
      /**
       * Longest run of one attempt, in milliseconds.
       * @default 3600000
       */
      maxTimeoutMs?: (number | null) | undefined;
      /**
       * How long tasks are kept after their end, where that is shorter than the configured time. Null is no time of its own.
       * @default null
       */
      retentionMs?: (number | null) | undefined;
      /**
       * Grants at once: tasks that run, and tasks whose ticket waits for a worker. Null is no limit.
       * @default 20
       */
      running?: (number | null) | undefined;
      /**
       * Tasks accepted but without a grant. Null is no limit.
       * @default 100
       */
      waiting?: (number | null) | undefined;
      /**
       * Grants at once per class of source.
       * @default {
       *       "proactive": 10,
       *       "user": 15,
       *       "webhook": 5
       *     }
       */
      runningByClass?: {
        [key: string]: number;
      } | undefined;
      /**
       * Grants at once for tasks of priority 1. Null is no limit.
       * @default 5
       */
      runningLow?: (number | null) | undefined;
      /**
       * Its share of the slots while tenants take turns, relative to the others: 2 gets twice as much as 1.
       * @default 1
       */
      weight?: number | undefined;
      /**
       * Grants at once per agent, instead of the agent's own `maxRunning`.
       * @default {}
       */
      runningByAgent?: {
        [key: string]: number;
      } | undefined;
      /**
       * Tasks accepted per class of source, and in all.
       * @default {
       *       "proactive": {
       *         "perMinute": 50,
       *         "perHour": 500,
       *         "burst": 100
       *       },
       *       "user": {
       *         "perMinute": 60,
       *         "perHour": 1000,
       *         "burst": 60
       *       },
       *       "webhook": {
       *         "perMinute": 100,
       *         "perHour": 2000,
       *         "burst": 100
       *       },
       *       "all": {
       *         "perMinute": 500,
       *         "perHour": 10000,
       *         "burst": 500
       *       }
       *     }
       */
      rates?: {
        [key: string]: {
          /**
           * How many in a minute.
           * @default 60
           */
          perMinute?: number | undefined;
          /**
           * How many in an hour.
           * @default 1000
           */
          perHour?: number | undefined;
          /** How many may come at once before the rate counts. */
          burst?: number | undefined;
        };
      } | undefined;
    };
    /**
     * @example {
     *       "disabled": true
     *     }
     */
    TenantPatch: {
      /** For people. */
      name?: string | undefined;
      /** Whether its keys open nothing and its work waits. */
      disabled?: boolean | undefined;
      /** Only named limits change; null restores those of the configuration. */
      limits?: (components["schemas"]["TenantLimitsPatch"] | null) | undefined;
    };
    TenantLimitsPatch: {
      /** About how many bytes of Redis's memory it may take. Null is no limit. */
      storedBytes?: (number | null) | undefined;
      /** Longest run of one attempt, in milliseconds. */
      maxTimeoutMs?: (number | null) | undefined;
      /** How long tasks are kept after their end, where that is shorter than the configured time. Null is no time of its own. */
      retentionMs?: (number | null) | undefined;
      /** Grants at once: tasks that run, and tasks whose ticket waits for a worker. Null is no limit. */
      running?: (number | null) | undefined;
      /** Tasks accepted but without a grant. Null is no limit. */
      waiting?: (number | null) | undefined;
      /** Grants at once per class of source. */
      runningByClass?: {
        [key: string]: number | null;
      } | undefined;
      /** Grants at once for tasks of priority 1. Null is no limit. */
      runningLow?: (number | null) | undefined;
      /** Its share of the slots while tenants take turns, relative to the others: 2 gets twice as much as 1. */
      weight?: number | undefined;
      /** Grants at once per agent, instead of the agent's own `maxRunning`. */
      runningByAgent?: {
        [key: string]: number | null;
      } | undefined;
      /** Tasks accepted per class of source, and in all. */
      rates?: {
        [key: string]: {
          /**
           * How many in a minute.
           * @default 60
           */
          perMinute?: number | undefined;
          /**
           * How many in an hour.
           * @default 1000
           */
          perHour?: number | undefined;
          /** How many may come at once before the rate counts. */
          burst?: number | undefined;
        } | null;
      } | undefined;
    };
    /**
     * @example {
     *       "limits": {
     *         "running": 5
     *       }
     *     }
     */
    LimitsPreviewRequest: {
      /** Instead of the tenant's own; what is not named stays. */
      limits: components["schemas"]["TenantLimitsPatch"];
    };
    /**
     * @example {
     *       "maxConcurrent": 200,
     *       "rates": {
     *         "all": {
     *           "perMinute": 500,
     *           "perHour": 10000
     *         }
     *       }
     *     }
     */
    FleetLimitsPatch: {
      /** Attempts that run at once in the fleet. */
      maxConcurrent?: number | undefined;
      /** Grants at once per class of source. */
      runningByClass?: {
        [key: string]: number | null;
      } | undefined;
      /** Grants at once for tasks of priority 1. Null is no limit. */
      runningLow?: (number | null) | undefined;
      /** Tasks accepted per class of source, and in all. */
      rates?: {
        [key: string]: {
          /**
           * How many in a minute.
           * @default 60
           */
          perMinute?: number | undefined;
          /**
           * How many in an hour.
           * @default 1000
           */
          perHour?: number | undefined;
          /** How many may come at once before the rate counts. */
          burst?: number | undefined;
        } | null;
      } | undefined;
    };
    /**
     * @example {
     *       "limits": {
     *         "maxConcurrent": 5
     *       }
     *     }
     */
    FleetLimitsPreviewRequest: {
      /** Replaces the current limits; what is not named stays. */
      limits: components["schemas"]["FleetLimitsPatch"];
    };
    /**
     * @example {
     *       "name": "ci",
     *       "scopes": [
     *         "submit"
     *       ]
     *     }
     */
    KeyRequest: {
      /** For people. */
      name: string;
      /** What it may. */
      scopes: ("admin" | "operate" | "journal" | "submit" | "answer" | "read" | "scaling")[];
    };
    /**
     * @example {
     *       "provider": "github",
     *       "agent": "reviewer",
     *       "secret": "a-secret-of-yours"
     *     }
     */
    HookRequest: {
      /**
       * For people.
       * @default null
       */
      name?: (string | null) | undefined;
      /**
       * Who sends, and so how it is signed.
       */
      provider: "github" | "gitlab" | "stripe" | "slack" | "standard" | "hmac" | "none";
      /**
       * What signs; it is never shown again.
       * @default null
       */
      secret?: (string | null) | undefined;
      /**
       * How the provider signs, where it leaves a choice.
       * @default null
       */
      options?: (({
        /** Header that holds the signature. */
        header: string;
        /**
         * The hash of the signature.
         * @default sha256
         */
        algorithm?: ("sha1" | "sha256" | "sha512") | undefined;
        /**
         * How the signature is written.
         * @default hex
         */
        encoding?: ("hex" | "base64") | undefined;
        /**
         * What stands before the signature in its header.
         * @default
         */
        prefix?: string | undefined;
        /** Header that holds the time of sending. */
        timestampHeader?: string | undefined;
        /**
         * Unit of that time.
         * @default s
         */
        timestampUnit?: ("s" | "ms" | "iso") | undefined;
        /**
         * How old a signature may be, in milliseconds.
         * @default 300000
         */
        toleranceMs?: number | undefined;
        /** What is signed, of `{body}`, `{timestamp}` and `{id}`. */
        signedContent?: string | undefined;
        /**
         * Whether the secret is text, or bytes in base64 (also after `whsec_`) or hex.
         * @default text
         */
        secretEncoding?: ("text" | "base64" | "hex") | undefined;
        /**
         * Whether an equal body within the window is the same delivery.
         * @default one
         */
        equalBodies?: ("one" | "each") | undefined;
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies: "one" | "each";
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies?: ("one" | "each") | undefined;
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      }) | null) | undefined;
      /**
       * The agent that runs the work.
       * @default null
       */
      agent?: (string | null) | undefined;
      /**
       * Instead of making tasks, sends events of this name to the runs that wait for them, with the payload as data. Null: it makes tasks.
       * @default null
       */
      event?: (string | null) | undefined;
      /**
       * Makes the input of the task from what came.
       * @default null
       */
      template?: (string | null) | undefined;
      /**
       * The conversation in which it is a turn.
       * @default null
       */
      session?: (string | null) | undefined;
      /**
       * From 1 to 10, the most urgent, or its name.
       * @default null
       */
      priority?: (((number | ("low" | "normal" | "high" | "critical")) | {
        [key: string]: number | ("low" | "normal" | "high" | "critical");
      }) | null) | undefined;
      /**
       * Whether `/schedule` lines of its output are applied.
       * @default false
       */
      directives?: boolean | undefined;
      /**
       * Whether it takes webhooks.
       * @default true
       */
      enabled?: boolean | undefined;
    };
    HookPatch: {
      /** For people. */
      name?: (string | null) | undefined;
      /**
       * Who sends, and so how it is signed.
       */
      provider?: ("github" | "gitlab" | "stripe" | "slack" | "standard" | "hmac" | "none") | undefined;
      /** What signs; it is never shown again. */
      secret?: (string | null) | undefined;
      /** How the provider signs, where it leaves a choice. */
      options?: (({
        /** Header that holds the signature. */
        header: string;
        /**
         * The hash of the signature.
         * @default sha256
         */
        algorithm?: ("sha1" | "sha256" | "sha512") | undefined;
        /**
         * How the signature is written.
         * @default hex
         */
        encoding?: ("hex" | "base64") | undefined;
        /**
         * What stands before the signature in its header.
         * @default
         */
        prefix?: string | undefined;
        /** Header that holds the time of sending. */
        timestampHeader?: string | undefined;
        /**
         * Unit of that time.
         * @default s
         */
        timestampUnit?: ("s" | "ms" | "iso") | undefined;
        /**
         * How old a signature may be, in milliseconds.
         * @default 300000
         */
        toleranceMs?: number | undefined;
        /** What is signed, of `{body}`, `{timestamp}` and `{id}`. */
        signedContent?: string | undefined;
        /**
         * Whether the secret is text, or bytes in base64 (also after `whsec_`) or hex.
         * @default text
         */
        secretEncoding?: ("text" | "base64" | "hex") | undefined;
        /**
         * Whether an equal body within the window is the same delivery.
         * @default one
         */
        equalBodies?: ("one" | "each") | undefined;
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies: "one" | "each";
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies?: ("one" | "each") | undefined;
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      }) | null) | undefined;
      /** The agent that runs the work. */
      agent?: (string | null) | undefined;
      /** Instead of making tasks, sends events of this name to the runs that wait for them, with the payload as data. Null: it makes tasks. */
      event?: (string | null) | undefined;
      /** Makes the input of the task from what came. */
      template?: (string | null) | undefined;
      /** The conversation in which it is a turn. */
      session?: (string | null) | undefined;
      /** From 1 to 10, the most urgent, or its name. */
      priority?: (((number | ("low" | "normal" | "high" | "critical")) | {
        [key: string]: number | ("low" | "normal" | "high" | "critical");
      }) | null) | undefined;
      /** Whether `/schedule` lines of its output are applied. */
      directives?: boolean | undefined;
      /** Whether it takes webhooks. */
      enabled?: boolean | undefined;
      /** Whether the former secret stays valid for `webhooks.secretOverlapMs`; `false` ends all former ones at once. */
      keepFormerSecret?: boolean | undefined;
    };
    /**
     * @example {
     *       "event": "pull_request.opened",
     *       "payload": {
     *         "number": 7
     *       }
     *     }
     */
    HookTest: {
      /**
       * The name of the event.
       * @default test
       */
      event?: string | undefined;
      /**
       * What the sender would send.
       * @default {}
       */
      payload?: unknown | undefined;
    };
    /** It ended within `waitMs`, or the key came before. */
    TaskOrAccepted: components["schemas"]["Task"] | components["schemas"]["Accepted"];
    Task: {
      /** The task's id; sorts by time. */
      id: string;
      /** Whose task it is. */
      tenant: string;
      /** The agent that runs it. */
      agent: string;
      /**
       * Where it came from.
       */
      source: "chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation";
      /** Where its answer is delivered. */
      channel: string | null;
      /** The conversation in which it is a turn. */
      session: string | null;
      /** Id of the visitor who wrote it. */
      visitor: string | null;
      /** Whether its words give no orders: they came by a webhook, from a visitor, or of such a task. */
      untrusted: boolean;
      status: components["schemas"]["TaskStatus"];
      /** What it waits for, as `why` names it; `queue` for a free slot, null for a task that runs or has ended. */
      gate: ("queue" | "lane" | "steer" | "cap" | "time" | "debounce" | "retry" | "suspect" | "budget" | "provider" | "circuit" | "failures" | "agent" | "repeats" | "interruptions" | "daemon" | "paused" | "worker" | "commands" | "sleep" | "event" | "question" | "children" | "batch" | "caller") | null;
      /** 10 is the most urgent. */
      priority: number;
      /**
       * The queue of its tickets.
       */
      queue: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote";
      /** What the agent is given: a text, or JSON as text for an agent whose input has a schema. */
      input: string;
      /** Given to the model after its agent's own instructions. */
      system: string | null;
      /** Data for the agent. */
      context: {
        [key: string]: unknown;
      } | null;
      /** Data of the caller, which Muster does not read. */
      metadata: {
        [key: string]: unknown;
      } | null;
      /** The task that delegated it. */
      parentTaskId: string | null;
      /** The first task of the chain of delegations that led to it. */
      rootTaskId: string | null;
      /** Delegations from that one to it; 0 for a task that nothing delegated. */
      depth: number;
      /** The API key by which it came, or the task that it descends from. */
      keyId: string | null;
      /** The caller's own id for work that belongs together. */
      correlationId: string | null;
      /** The schedule that made it. */
      scheduleId: string | null;
      /** Of the trigger, hook or schedule that it came from. */
      sourceId: string | null;
      /** What made it; null for a request. */
      trigger: ("heartbeat" | "cron" | "once" | "run-now" | "hook" | "retry") | null;
      /** It fails when it has not ended by then. */
      deadline: string | null;
      /** It should have ended by then, and goes before others of its priority for that. */
      sla: string | null;
      /** Whether that time passed before its end; null without `sla`. */
      slaBreached: boolean | null;
      /** It starts no earlier. */
      scheduledFor: string | null;
      /** When it starts again, while it waits for a retry or for its provider. */
      retryAt: string | null;
      /** What its worker must have. */
      requirements: {
        /** What the worker must be able to do. */
        capabilities?: string[] | undefined;
        /** The machine that must run it. */
        targetDaemon?: string | undefined;
        /** Machines that must not run it. */
        excludedDaemons?: string[] | undefined;
        /** About how long it runs, in milliseconds. */
        estimatedDurationMs?: number | undefined;
        /** Megabytes of memory that it needs. */
        memoryMb?: number | undefined;
        /** Whether it computes much. */
        cpuIntensive?: boolean | undefined;
      } | null;
      /** Its bounds: attempts, delays and times. */
      execution: {
        /** Longest run of one attempt, in milliseconds. */
        timeoutMs: number;
        /** Attempts allowed, the first one included. */
        maxAttempts: number;
        /** Before the second attempt, in milliseconds. */
        retryDelayMs: number;
        /**
         * How the delay grows.
         */
        retryBackoff: "exponential" | "linear";
        /** Whether a task that runs at its deadline is aborted, and fails for good. */
        deadlineAborts: boolean;
        /** Until then calls of its model may go by batches; null for calls at once. */
        withinMs: number | null;
      };
      /** Called when it has ended. */
      callbackUrl: string | null;
      /** Files that it was given. */
      attachments: components["schemas"]["TaskAttachment"][];
      /** The final text. */
      output: string | null;
      /** The final value, when its agent gives one. */
      result: unknown;
      /**
       * In lists: its `input` and `output` are cut to their beginnings, and `system`, `context` and long `metadata` and `result` are null, because the archive has them. Reading the task gives all.
       * @constant
       */
      archived?: true | undefined;
      /** How the answer of its model ended; null before, and for an agent that does not say it. */
      finishReason: ("stop" | "length" | "content_filter" | "tool_calls" | "error" | "unknown") | null;
      /** Whether the output is less than the model would have said: cut by `length` or `content_filter`. */
      isTruncated: boolean;
      /** Why its last attempt failed. */
      error: components["schemas"]["TaskError"] | null;
      /** Number of the current or last attempt; 0 before the first. */
      attempt: number;
      /** What became of it, when that says more than its status. */
      outcome: components["schemas"]["Outcome"] | null;
      /** What its attempts used, as far as it is known. */
      usage: components["schemas"]["Usage"] | null;
      /** The worker of its current or last attempt. */
      worker: string | null;
      /** The release (`MUSTER_RELEASE`) of that worker. */
      release: string | null;
      /** How often in a row workers that shut down interrupted it, and nothing was kept that the next attempt goes on from. */
      interruptions: number;
      /** The critical task that last got its place while it ran. */
      preemptedBy: string | null;
      /** `X-Request-Id` of the request that made it; a run that a schedule made has its own. */
      requestId: string;
      /** W3C trace id, from `traceparent`; the log calls it `trace`. */
      traceId: string;
      /**
       * Format: date-time
       * When it was accepted.
       */
      createdAt: string;
      /** When it was granted its place and got its ticket. */
      queuedAt: string | null;
      /** When a worker took it. */
      scheduledAt: string | null;
      /** When its current or last attempt began. */
      startedAt: string | null;
      /** When it ended. */
      completedAt: string | null;
    };
    TaskAttachment: {
      /** Unique among those of the task. */
      name: string;
      /** What its sender said that it is. */
      mediaType: string;
      /** Its size; null for one that is fetched from `url`. */
      bytes: number | null;
      /** Its upload, which another task can have too; null for one that is fetched from `url`. */
      uploadId: string | null;
      /** Where it is fetched; null for an upload. */
      url: string | null;
    };
    TaskError: {
      /** What to branch on. */
      code: string;
      /** For people. */
      message: string;
      /** Whether another attempt may succeed. */
      retryable: boolean;
      /** What is known besides. */
      details: {
        [key: string]: unknown;
      } | null;
    };
    Outcome: {
      /** What became of it. */
      kind: string;
      /** The task that it became part of. */
      taskId: string | null;
      /** Why. */
      reason: string | null;
    };
    Usage: {
      /** Tokens that were sent, cached ones included. */
      inputTokens: number;
      /** Tokens that were answered, reasoning included. */
      outputTokens: number;
      /** Tokens that were sent and that the provider had cached. */
      cachedInputTokens: number;
      /** Tokens of the model's reasoning. */
      reasoningTokens: number;
      /** Cost in millionths of a dollar; null when a part of it is unknown. */
      costMicroUsd: number | null;
      /** The part of the cost that is known, which budgets count. */
      knownCostMicroUsd: number;
      /** Whether a part of the figures is estimated. */
      isEstimated: boolean;
      /** The same by model, where one is known. */
      byModel: {
        /** The model; null when unknown. */
        model: string | null;
        /** Tokens that were sent, cached ones included. */
        inputTokens: number;
        /** Tokens that were answered, reasoning included. */
        outputTokens: number;
        /** Tokens that were sent and that the provider had cached. */
        cachedInputTokens: number;
        /** Tokens of the model's reasoning. */
        reasoningTokens: number;
        /** Cost in millionths of a dollar; null when a part of it is unknown. */
        costMicroUsd: number | null;
        /** The part of the cost that is known, which budgets count. */
        knownCostMicroUsd: number;
        /** Whether a part of the figures is estimated. */
        isEstimated: boolean;
      }[];
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "queued",
     *       "position": 0,
     *       "estimatedStartMs": 150,
     *       "pressure": null
     *     }
     */
    Accepted: {
      /** The task's id. */
      id: string;
      /** Null when an earlier request under the key made the task and its record is no longer kept. */
      status: components["schemas"]["TaskStatus"] | null;
      /** How many tasks are before it in its session or backlog. */
      position: number;
      /** In about how many milliseconds it starts; null when unknown. */
      estimatedStartMs: number | null;
      /** How far too much waits; null when not. */
      pressure: components["schemas"]["Pressure"] | null;
    };
    Pressure: {
      /**
       * What kind of signal it is.
       * @constant
       */
      type: "backpressure";
      /**
       * How much.
       */
      level: "warning" | "critical";
      /**
       * Who has too much work.
       */
      scope: "tenant" | "fleet";
      /** How many tasks of the tenant have not ended. */
      queueDepth: number;
      /** The same, by the name that proactive engines know. */
      queue_depth: number;
      /** How long its next task waits, about; null when unknown. */
      estimatedWaitMs: number | null;
      /** The same in seconds. */
      estimated_wait_time: number | null;
      /** For proactive tasks under a warning: how many times slower to send. */
      slowDown: number | null;
      /** The same. */
      slow_down: number | null;
      /** What would help. */
      recommendations: string[];
    };
    /**
     * An error, as of RFC 9457.
     * @example {
     *       "type": "urn:muster:problem:task.not-found",
     *       "title": "No such task",
     *       "status": 404,
     *       "detail": "There is no such task",
     *       "code": "task.not-found",
     *       "instance": "/v1/tasks/01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "details": {
     *         "task": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A"
     *       }
     *     }
     */
    Problem: {
      /** Names the kind of problem. */
      type: string;
      /** The kind of problem, for people. */
      title: string;
      /** The HTTP status. */
      status: number;
      /** What went wrong, for people. */
      detail: string;
      code: components["schemas"]["ErrorCode"];
      /** Path of the request. */
      instance?: string | undefined;
      /** What is known besides. */
      details?: {
        [key: string]: unknown;
      } | undefined;
    };
    /**
     * What to branch on. Later versions may have further codes. Where "later" stands, the same request may succeed later; `Retry-After` says when, if that is known.
     *     - `request.malformed` (400): The request is not well formed.
     *     - `request.invalid` (422): The request does not fit its schema.
     *     - `request.too-large` (413): The request is larger than allowed.
     *     - `request.headers-too-large` (431): The address or the headers are larger than allowed.
     *     - `request.timeout` (408, later): The request did not arrive in time.
     *     - `request.unsupported-media-type` (415): The content type is not supported.
     *     - `request.upgrade-required` (426): This address takes WebSockets only.
     *     - `request.method-not-allowed` (405): The address does not take this method.
     *     - `request.not-found` (404): There is nothing at this address.
     *     - `auth.missing` (401): A key is needed.
     *     - `auth.invalid` (401): The key is not known.
     *     - `auth.forbidden` (403): The key lacks the scope.
     *     - `auth.bad-signature` (401): The signature does not match.
     *     - `auth.csrf` (403): The request did not come from this site.
     *     - `auth.claim-missing` (403): The provider left out the claim that gives roles.
     *     - `auth.no-role` (403): The person has no role here.
     *     - `auth.sign-in-failed` (401): The sign-in at the provider failed.
     *     - `tenant.disabled` (403): The tenant is disabled.
     *     - `tenant.ended` (410): The tenant was deleted.
     *     - `tenant.not-found` (404): No such tenant.
     *     - `tenant.exists` (409): The tenant exists already.
     *     - `key.not-found` (404): No such key.
     *     - `person.not-found` (404): No such person.
     *     - `visitor.not-found` (404): No such visitor.
     *     - `task.not-found` (404): No such task.
     *     - `task.wrong-state` (409): The task is in another state.
     *     - `task.idempotency-conflict` (409): The key was used for another body.
     *     - `task.not-running` (409): The task does not run.
     *     - `task.source-reserved` (403): The source is given by Muster itself.
     *     - `task.takes-no-input` (409): The task takes no input.
     *     - `journal.not-found` (404): No such entry of the journal.
     *     - `question.not-found` (404): No such question.
     *     - `question.answered` (409): The question was answered before.
     *     - `question.closed` (409): The question is no longer open.
     *     - `question.forbidden` (403): The question is for others.
     *     - `question.invalid` (422): The answer does not fit the question.
     *     - `upload.not-found` (422): No such upload.
     *     - `artifact.not-found` (404): No such artifact.
     *     - `file.link-invalid` (404): The address of the file is wrong or has expired.
     *     - `file.attempt-over` (409): The attempt that may add files is over.
     *     - `checkpoint.key-invalid` (404): The key is of no attempt of this task.
     *     - `checkpoint.attempt-over` (409): The attempt that may keep checkpoints is over.
     *     - `checkpoint.too-large` (413): The checkpoint is larger than allowed.
     *     - `task.runaway` (422): The tasks that delegate to each other were cut.
     *     - `task.loop` (422): The sub-task would lead in a circle.
     *     - `action.not-found` (404): No such action.
     *     - `action.busy` (409, later): Others change the action at the same time.
     *     - `agent.unknown` (422): No such agent.
     *     - `alert.failed` (502): An alert was not taken.
     *     - `erasure.not-found` (404): No such erasure.
     *     - `backup.damaged` (500): The backup is damaged.
     *     - `backup.refused` (409): The backup cannot be restored there.
     *     - `alert.not-found` (404): No such alert.
     *     - `group.not-found` (404): No such group of workers.
     *     - `agent.not-found` (404): No such agent.
     *     - `agent.operator-only` (403): This agent comes from the configuration only.
     *     - `agent.exists` (412): An agent of this name exists already.
     *     - `agent.busy` (409, later): Others change the agent at the same time.
     *     - `budget.exists` (412): A budget of this name exists already.
     *     - `budget.not-found` (404): No such budget.
     *     - `budget.operator-only` (403): This budget comes from the configuration only.
     *     - `daemon.not-found` (404): No such daemon.
     *     - `daemon.name-taken` (409): Another daemon has this name.
     *     - `hook.delivery-not-found` (404): No such delivery of a hook is kept.
     *     - `hook.handshake-refused` (403): The handshake is not that of the hook.
     *     - `hook.not-replayable` (409): The delivery cannot be replayed.
     *     - `hook.not-found` (404): No such hook.
     *     - `delivery.not-found` (404): No such delivery.
     *     - `delivery.wrong-state` (409): The delivery is in another state.
     *     - `callback.endpoint-not-found` (404): No such failing endpoint.
     *     - `schedule.unreadable` (422): The rule cannot be read.
     *     - `schedule.unknown-zone` (422): No such time zone.
     *     - `schedule.platform-off` (422): The chat platform is not on.
     *     - `schedule.range-too-large` (422): The range has too many occurrences.
     *     - `schedule.not-found` (404): No such schedule.
     *     - `schedule.wrong-state` (409): The schedule is in another state.
     *     - `limits.busy` (409, later): Others change the fleet's limits at the same time.
     *     - `tenant.busy` (409, later): Others change the tenant at the same time.
     *     - `hook.busy` (409, later): Others change the hook at the same time.
     *     - `daemon.busy` (409, later): Others change the daemon at the same time.
     *     - `schedule.busy` (409, later): Others change the schedule at the same time.
     *     - `schedule.idempotency-conflict` (409): The key was used for another schedule.
     *     - `record.unreadable` (500): The record cannot be read by this version.
     *     - `seal.key-lost` (500): It is sealed with a key that is not here.
     *     - `worker.not-found` (404): No such worker.
     *     - `finding.not-found` (404): No such finding.
     *     - `queue.not-found` (404): No such queue.
     *     - `limit.rate` (429, later): Too many requests.
     *     - `limit.budget` (429, later): A budget is used up.
     *     - `limit.streams` (429, later): Too many event streams.
     *     - `limit.bodies` (429, later): Too many request bodies at once.
     *     - `limit.actions` (429, later): Too many actions are under way.
     *     - `limit.pressure` (429, later): There is too much work for what can wait.
     *     - `limit.storage` (429, later): Too much is stored already.
     *     - `limit.waiting` (429, later): Too much is waiting already.
     *     - `limit.visitors` (429, later): Too many visitor tokens.
     *     - `limit.daemons` (429, later): Too many daemons.
     *     - `unavailable.redis` (503, later): Redis does not answer.
     *     - `unavailable.memory` (503, later): Redis is nearly full.
     *     - `unavailable.fsync` (503, later): Redis did not confirm that it is on disk.
     *     - `unavailable.files` (503, later): The storage of files does not answer.
     *     - `unavailable.provider` (503, later): The identity provider does not answer.
     *     - `unavailable.chat` (503, later): The chat message was not taken in time.
     *     - `unavailable.shutting-down` (503, later): This process is shutting down.
     *     - `config.invalid` (500): The configuration is wrong.
     *     - `internal.error` (500): Something went wrong here.
     */
    ErrorCode: "request.malformed" | "request.invalid" | "request.too-large" | "request.headers-too-large" | "request.timeout" | "request.unsupported-media-type" | "request.upgrade-required" | "request.method-not-allowed" | "request.not-found" | "auth.missing" | "auth.invalid" | "auth.forbidden" | "auth.bad-signature" | "auth.csrf" | "auth.claim-missing" | "auth.no-role" | "auth.sign-in-failed" | "tenant.disabled" | "tenant.ended" | "tenant.not-found" | "tenant.exists" | "key.not-found" | "person.not-found" | "visitor.not-found" | "task.not-found" | "task.wrong-state" | "task.idempotency-conflict" | "task.not-running" | "task.source-reserved" | "task.takes-no-input" | "journal.not-found" | "question.not-found" | "question.answered" | "question.closed" | "question.forbidden" | "question.invalid" | "upload.not-found" | "artifact.not-found" | "file.link-invalid" | "file.attempt-over" | "checkpoint.key-invalid" | "checkpoint.attempt-over" | "checkpoint.too-large" | "task.runaway" | "task.loop" | "action.not-found" | "action.busy" | "agent.unknown" | "alert.failed" | "erasure.not-found" | "backup.damaged" | "backup.refused" | "alert.not-found" | "group.not-found" | "agent.not-found" | "agent.operator-only" | "agent.exists" | "agent.busy" | "budget.exists" | "budget.not-found" | "budget.operator-only" | "daemon.not-found" | "daemon.name-taken" | "hook.delivery-not-found" | "hook.handshake-refused" | "hook.not-replayable" | "hook.not-found" | "delivery.not-found" | "delivery.wrong-state" | "callback.endpoint-not-found" | "schedule.unreadable" | "schedule.unknown-zone" | "schedule.platform-off" | "schedule.range-too-large" | "schedule.not-found" | "schedule.wrong-state" | "limits.busy" | "tenant.busy" | "hook.busy" | "daemon.busy" | "schedule.busy" | "schedule.idempotency-conflict" | "record.unreadable" | "seal.key-lost" | "worker.not-found" | "finding.not-found" | "queue.not-found" | "limit.rate" | "limit.budget" | "limit.streams" | "limit.bodies" | "limit.actions" | "limit.pressure" | "limit.storage" | "limit.waiting" | "limit.visitors" | "limit.daemons" | "unavailable.redis" | "unavailable.memory" | "unavailable.fsync" | "unavailable.files" | "unavailable.provider" | "unavailable.chat" | "unavailable.shutting-down" | "config.invalid" | "internal.error";
    TaskList: {
      /** Newest first. A task whose id is `q` comes first. */
      items: components["schemas"]["Task"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
      /** How far this page searched; absent where an index answered it. */
      search?: {
        /** Tasks that this page checked. */
        scanned: number;
        /** When the last of them was accepted; `nextCursor` continues before it. */
        back: string | null;
      } | undefined;
    };
    UnreadableRecord: {
      /** Names the record. */
      id: string;
      /** Why. */
      reason: string;
    };
    BulkAnswers: {
      /** One for each item, in their order. */
      items: components["schemas"]["BulkAnswer"][];
    };
    /**
     * The accepted task and no problem, or a problem and nulls.
     * @example {
     *       "httpStatus": 202,
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "queued",
     *       "position": 0,
     *       "estimatedStartMs": 150,
     *       "pressure": null,
     *       "problem": null
     *     }
     */
    BulkAnswer: {
      /** The status that the single call would answer. */
      httpStatus: number;
      /** The task's id. */
      id: string | null;
      /** Null when an earlier request under the key made the task and its record is no longer kept. */
      status: (components["schemas"]["TaskStatus"] | null) | null;
      /** How many tasks are before it in its session or backlog. */
      position: number | null;
      /** In about how many milliseconds it starts; null when unknown. */
      estimatedStartMs: number | null;
      /** How far too much waits; null when not. */
      pressure: components["schemas"]["Pressure"] | null;
      /** Why it was refused, as the single call answers it. */
      problem: {
        [key: string]: unknown;
      } | null;
    };
    TaskFacets: {
      /** Tasks that fit the filter. */
      total: number;
      /** Whether there may be more: only the newest tasks were counted, up to `search.maxScanned` and `search.maxMs`. */
      isLowerBound: boolean;
      /** By status; the most frequent first, at most `search.maxValues`. */
      status: {
        /** A value that the filter of the same name takes. */
        value: string;
        /** Tasks with this value that fit the rest of the filter. */
        count: number;
      }[];
      /** By agent; the most frequent first, at most `search.maxValues`. */
      agent: {
        /** A value that the filter of the same name takes. */
        value: string;
        /** Tasks with this value that fit the rest of the filter. */
        count: number;
      }[];
      /** By source; the most frequent first, at most `search.maxValues`. */
      source: {
        /** A value that the filter of the same name takes. */
        value: string;
        /** Tasks with this value that fit the rest of the filter. */
        count: number;
      }[];
      /** By the code of the last failure; the most frequent first, at most `search.maxValues`. */
      code: {
        /** A value that the filter of the same name takes. */
        value: string;
        /** Tasks with this value that fit the rest of the filter. */
        count: number;
      }[];
    };
    /** The key came before, or it was a dry run. */
    ActionOrCount: components["schemas"]["Action"] | components["schemas"]["ActionCount"];
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "action": "retry",
     *       "status": "running",
     *       "named": null,
     *       "filter": {
     *         "status": [
     *           "permanently_failed"
     *         ],
     *         "code": "NETWORK_ERROR"
     *       },
     *       "reason": null,
     *       "by": "k1",
     *       "matched": 300,
     *       "exact": true,
     *       "done": 200,
     *       "skipped": 0,
     *       "failed": 0,
     *       "error": null,
     *       "createdAt": "2026-05-01T09:00:00.000Z",
     *       "startedAt": "2026-05-01T09:00:01.000Z",
     *       "updatedAt": "2026-05-01T09:00:02.000Z",
     *       "completedAt": null
     *     }
     */
    Action: {
      /** The action's id; sorts by time. */
      id: string;
      /**
       * `retry`, `cancel`, or `discard`: remove the records of ended tasks.
       */
      action: "retry" | "cancel" | "discard";
      /**
       * Where it is; `cancelling` until the step under way has ended.
       */
      status: "pending" | "running" | "cancelling" | "completed" | "cancelled" | "failed";
      /** How many tasks `ids` named; null without. */
      named: number | null;
      /** Which tasks it selects, of all or of the named ones. */
      filter: {
        [key: string]: unknown;
      };
      /** For the records of cancelled tasks. */
      reason: string | null;
      /** Id of the key that requested it. */
      by: string | null;
      /** Tasks that fit the filter. */
      matched: number;
      /** Whether `matched` is exact; otherwise it is a lower bound. */
      exact: boolean;
      /** Tasks that it was applied to. */
      done: number;
      /** Tasks that had changed, so that it did not apply to them any more. */
      skipped: number;
      /** Tasks that it could not be applied to. */
      failed: number;
      /** Why the last of these failed. */
      error: string | null;
      /**
       * Format: date-time
       * When it was requested.
       */
      createdAt: string;
      /** When its first step began. */
      startedAt: string | null;
      /**
       * Format: date-time
       * When its progress was stored last.
       */
      updatedAt: string;
      /** When it ended. */
      completedAt: string | null;
    };
    /**
     * @example {
     *       "action": "retry",
     *       "matched": 300,
     *       "exact": true
     *     }
     */
    ActionCount: {
      /**
       * `retry`, `cancel`, or `discard`: remove the records of ended tasks.
       */
      action: "retry" | "cancel" | "discard";
      /** Tasks that fit the filter. */
      matched: number;
      /** Whether `matched` is exact; otherwise it is a lower bound. */
      exact: boolean;
    };
    ActionList: {
      /** Newest first. */
      items: components["schemas"]["Action"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    TaskWithProgress: {
      /** The task's id; sorts by time. */
      id: string;
      /** Whose task it is. */
      tenant: string;
      /** The agent that runs it. */
      agent: string;
      /**
       * Where it came from.
       */
      source: "chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation";
      /** Where its answer is delivered. */
      channel: string | null;
      /** The conversation in which it is a turn. */
      session: string | null;
      /** Id of the visitor who wrote it. */
      visitor: string | null;
      /** Whether its words give no orders: they came by a webhook, from a visitor, or of such a task. */
      untrusted: boolean;
      status: components["schemas"]["TaskStatus"];
      /** What it waits for, as `why` names it; `queue` for a free slot, null for a task that runs or has ended. */
      gate: ("queue" | "lane" | "steer" | "cap" | "time" | "debounce" | "retry" | "suspect" | "budget" | "provider" | "circuit" | "failures" | "agent" | "repeats" | "interruptions" | "daemon" | "paused" | "worker" | "commands" | "sleep" | "event" | "question" | "children" | "batch" | "caller") | null;
      /** 10 is the most urgent. */
      priority: number;
      /**
       * The queue of its tickets.
       */
      queue: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote";
      /** What the agent is given: a text, or JSON as text for an agent whose input has a schema. */
      input: string;
      /** Given to the model after its agent's own instructions. */
      system: string | null;
      /** Data for the agent. */
      context: {
        [key: string]: unknown;
      } | null;
      /** Data of the caller, which Muster does not read. */
      metadata: {
        [key: string]: unknown;
      } | null;
      /** The task that delegated it. */
      parentTaskId: string | null;
      /** The first task of the chain of delegations that led to it. */
      rootTaskId: string | null;
      /** Delegations from that one to it; 0 for a task that nothing delegated. */
      depth: number;
      /** The API key by which it came, or the task that it descends from. */
      keyId: string | null;
      /** The caller's own id for work that belongs together. */
      correlationId: string | null;
      /** The schedule that made it. */
      scheduleId: string | null;
      /** Of the trigger, hook or schedule that it came from. */
      sourceId: string | null;
      /** What made it; null for a request. */
      trigger: ("heartbeat" | "cron" | "once" | "run-now" | "hook" | "retry") | null;
      /** It fails when it has not ended by then. */
      deadline: string | null;
      /** It should have ended by then, and goes before others of its priority for that. */
      sla: string | null;
      /** Whether that time passed before its end; null without `sla`. */
      slaBreached: boolean | null;
      /** It starts no earlier. */
      scheduledFor: string | null;
      /** When it starts again, while it waits for a retry or for its provider. */
      retryAt: string | null;
      /** What its worker must have. */
      requirements: {
        /** What the worker must be able to do. */
        capabilities?: string[] | undefined;
        /** The machine that must run it. */
        targetDaemon?: string | undefined;
        /** Machines that must not run it. */
        excludedDaemons?: string[] | undefined;
        /** About how long it runs, in milliseconds. */
        estimatedDurationMs?: number | undefined;
        /** Megabytes of memory that it needs. */
        memoryMb?: number | undefined;
        /** Whether it computes much. */
        cpuIntensive?: boolean | undefined;
      } | null;
      /** Its bounds: attempts, delays and times. */
      execution: {
        /** Longest run of one attempt, in milliseconds. */
        timeoutMs: number;
        /** Attempts allowed, the first one included. */
        maxAttempts: number;
        /** Before the second attempt, in milliseconds. */
        retryDelayMs: number;
        /**
         * How the delay grows.
         */
        retryBackoff: "exponential" | "linear";
        /** Whether a task that runs at its deadline is aborted, and fails for good. */
        deadlineAborts: boolean;
        /** Until then calls of its model may go by batches; null for calls at once. */
        withinMs: number | null;
      };
      /** Called when it has ended. */
      callbackUrl: string | null;
      /** Files that it was given. */
      attachments: components["schemas"]["TaskAttachment"][];
      /** The final text. */
      output: string | null;
      /** The final value, when its agent gives one. */
      result: unknown;
      /**
       * In lists: its `input` and `output` are cut to their beginnings, and `system`, `context` and long `metadata` and `result` are null, because the archive has them. Reading the task gives all.
       * @constant
       */
      archived?: true | undefined;
      /** How the answer of its model ended; null before, and for an agent that does not say it. */
      finishReason: ("stop" | "length" | "content_filter" | "tool_calls" | "error" | "unknown") | null;
      /** Whether the output is less than the model would have said: cut by `length` or `content_filter`. */
      isTruncated: boolean;
      /** Why its last attempt failed. */
      error: components["schemas"]["TaskError"] | null;
      /** Number of the current or last attempt; 0 before the first. */
      attempt: number;
      /** What became of it, when that says more than its status. */
      outcome: components["schemas"]["Outcome"] | null;
      /** What its attempts used, as far as it is known. */
      usage: components["schemas"]["Usage"] | null;
      /** The worker of its current or last attempt. */
      worker: string | null;
      /** The release (`MUSTER_RELEASE`) of that worker. */
      release: string | null;
      /** How often in a row workers that shut down interrupted it, and nothing was kept that the next attempt goes on from. */
      interruptions: number;
      /** The critical task that last got its place while it ran. */
      preemptedBy: string | null;
      /** `X-Request-Id` of the request that made it; a run that a schedule made has its own. */
      requestId: string;
      /** W3C trace id, from `traceparent`; the log calls it `trace`. */
      traceId: string;
      /**
       * Format: date-time
       * When it was accepted.
       */
      createdAt: string;
      /** When it was granted its place and got its ticket. */
      queuedAt: string | null;
      /** When a worker took it. */
      scheduledAt: string | null;
      /** When its current or last attempt began. */
      startedAt: string | null;
      /** When it ended. */
      completedAt: string | null;
      /** The progress that it reported last. */
      progress: components["schemas"]["Progress"] | null;
      /** Where people look at its trace, by the setting `traces.url`. */
      traceUrl: string | null;
    };
    /**
     * @example {
     *       "at": "2026-05-01T09:00:02.000Z",
     *       "attempt": 1,
     *       "note": "reading",
     *       "percent": 40
     *     }
     */
    Progress: {
      /**
       * Format: date-time
       * When.
       */
      at: string;
      /** In which attempt. */
      attempt: number;
      /** In words. */
      note: string | null;
      /** From 0 to 100. */
      percent: number | null;
    };
    /**
     * @example {
     *       "status": "pending",
     *       "reasons": [
     *         {
     *           "gate": "lane",
     *           "detail": "another task of its session runs",
     *           "since": "2026-05-01T09:00:00.000Z",
     *           "until": null,
     *           "taskId": null
     *         }
     *       ],
     *       "gates": [
     *         {
     *           "gate": "lane",
     *           "state": "closed",
     *           "detail": "another task of its session runs",
     *           "facts": {
     *             "place": 2
     *           },
     *           "helps": "It starts when the task before it has ended.",
     *           "since": "2026-05-01T09:00:00.000Z",
     *           "until": null,
     *           "taskId": null
     *         }
     *       ],
     *       "estimatedStartMs": null,
     *       "interruptions": 0
     *     }
     */
    Why: {
      status: components["schemas"]["TaskStatus"];
      /** What it waits for now; none when it does not wait. */
      reasons: {
        /**
         * What it waits at.
         */
        gate: "lane" | "steer" | "cap" | "time" | "debounce" | "retry" | "suspect" | "budget" | "provider" | "circuit" | "failures" | "agent" | "repeats" | "interruptions" | "daemon" | "paused" | "worker" | "commands" | "sleep" | "event" | "question" | "children" | "batch" | "caller" | "version" | "turn" | "fleet" | "queue" | "outbox" | "rate" | "clock" | "deadline";
        /** For people. */
        detail: string;
        /** Since when; null when unknown. */
        since: string | null;
        /** Until when, if that is known. */
        until: string | null;
        /** The task that it waits for. */
        taskId: string | null;
      }[];
      /** Every gate on the path to its start, in order; none when it does not wait. */
      gates: {
        /**
         * The gate.
         */
        gate: "lane" | "steer" | "cap" | "time" | "debounce" | "retry" | "suspect" | "budget" | "provider" | "circuit" | "failures" | "agent" | "repeats" | "interruptions" | "daemon" | "paused" | "worker" | "commands" | "sleep" | "event" | "question" | "children" | "batch" | "caller" | "version" | "turn" | "fleet" | "queue" | "outbox" | "rate" | "clock" | "deadline";
        /**
         * `closed` while the task waits at it.
         */
        state: "open" | "closed";
        /** For people. */
        detail: string;
        /** Its figures by name; which ones depends on the gate. */
        facts: {
          [key: string]: number | string | null;
        };
        /** What would help, for people; null at an open gate. */
        helps: string | null;
        /** Since when it is closed; null when unknown. */
        since: string | null;
        /** Until when, if that is known. */
        until: string | null;
        /** The task that has to go first. */
        taskId: string | null;
      }[];
      /** In about how many milliseconds it starts; null when unknown. */
      estimatedStartMs: number | null;
      /** How often in a row workers that shut down interrupted it, and it started over. It is held at `interruptions` after `worker.maxInterruptions`. */
      interruptions: number;
    };
    AttemptList: {
      /** First to last. */
      items: components["schemas"]["Attempt"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "number": 1,
     *       "worker": "worker-7d9f-1-3fa2@v1.4.0",
     *       "release": "v1.4.0",
     *       "daemon": null,
     *       "daemonName": null,
     *       "startedAt": "2026-05-01T09:00:01.000Z",
     *       "endedAt": "2026-05-01T09:00:04.000Z",
     *       "status": "success",
     *       "error": null,
     *       "usage": null,
     *       "model": null,
     *       "notes": []
     *     }
     */
    Attempt: {
      /** From 1. */
      number: number;
      /** The worker that ran it. */
      worker: string;
      /** The release (`MUSTER_RELEASE`) of that worker; null for one of an earlier version. */
      release: string | null;
      /** The daemon that ran it for that worker, a hub; null for none. */
      daemon: string | null;
      /** The daemon's name; null for an attempt without a daemon, and when the daemon was removed. */
      daemonName: string | null;
      /**
       * Format: date-time
       * When it began.
       */
      startedAt: string;
      /** When it ended; null while it runs. */
      endedAt: string | null;
      /**
       * How it ended.
       */
      status: "running" | "success" | "failed" | "timeout" | "cancelled" | "interrupted" | "suspended";
      /** Why it failed. */
      error: components["schemas"]["TaskError"] | null;
      /** What it used, as far as it is known. */
      usage: components["schemas"]["Usage"] | null;
      /** The model that answered instead of the requested one; null for none. */
      model: string | null;
      /** Why another model was called, in words; empty while it runs. */
      notes: string[];
    };
    Timeline: {
      /** First to last. */
      items: components["schemas"]["TimelineStep"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "status": "queued",
     *       "at": "2026-05-01T09:00:00.000Z",
     *       "note": null
     *     }
     */
    TimelineStep: {
      status: components["schemas"]["TaskStatus"];
      /**
       * Format: date-time
       * When it came to this status.
       */
      at: string;
      /** Why, in words. */
      note: string | null;
    };
    TaskLog: {
      /** First to last. */
      items: components["schemas"]["LogEntry"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "id": "1777626002000-0",
     *       "at": "2026-05-01T09:00:02.000Z",
     *       "attempt": 1,
     *       "kind": "log",
     *       "level": "info",
     *       "text": "read 12 files",
     *       "fields": {
     *         "files": 12
     *       },
     *       "percent": null
     *     }
     */
    LogEntry: {
      /** Sorts by time. */
      id: string;
      /**
       * Format: date-time
       * When.
       */
      at: string;
      /** In which attempt. */
      attempt: number;
      /**
       * What it is.
       */
      kind: "log" | "progress";
      /** Of `log`: how important. */
      level: ("info" | "warn" | "error") | null;
      /** The text, or the note of a progress. */
      text: string | null;
      /** Of `log`: data beside the text. */
      fields: {
        [key: string]: unknown;
      } | null;
      /** Of `progress`: from 0 to 100. */
      percent: number | null;
    };
    Journal: {
      /** By number. */
      items: components["schemas"]["JournalEntry"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    JournalEntry: {
      /** Its number, from 1. */
      seq: number;
      /**
       * `definition` is what the run began with, `input` messages that it took, `model` and `tool` calls of either; the run waits at the others but a `step`.
       */
      kind: "definition" | "step" | "model" | "tool" | "input" | "sleep" | "event" | "question" | "delegate" | "batch" | "caller";
      /** Of a step the name that its agent gave it, of the definition the agent. */
      name: string;
      /** Of the definition, the version of the agent; null for none. */
      version: string | null;
      /**
       * `started` may have been under way when its attempt ended; the next one does it again. The run is suspended at one that is `waiting`.
       */
      status: "started" | "completed" | "failed" | "waiting";
      /** The number of the attempt that did it. */
      attempt: number;
      /**
       * Format: date-time
       * When it began.
       */
      startedAt: string;
      /** When it ended. */
      endedAt: string | null;
      /** Of one that the run waits at: until when at most; null for without end. */
      until: string | null;
      /** Bytes of the JSON that it gave; null for nothing. */
      bytes: number | null;
      /** The id of the file that has this; null where the journal has it itself. */
      file: string | null;
      /** What it gave; null for nothing, and where it cannot be opened. In a list also null for more than 4096 bytes. Absent without the scope `journal`, and where `journal.bodies` is off. */
      value?: unknown | undefined;
      /** What it was given: a question with its choices, the `match` of an event, the tasks of a delegation, the arguments of a tool. As `value`. Absent without the scope `journal`, and where `journal.bodies` is off. */
      input?: unknown | undefined;
      /** What its work used; null for nothing that is known. */
      usage: components["schemas"]["Usage"] | null;
      /** Of one that failed. */
      error: {
        /** What to branch on. */
        code: string;
        /** The text. */
        message: string;
      } | null;
      /** How many later attempts got what it gave, without doing it again. */
      replays: number;
    };
    TaskTree: {
      root: components["schemas"]["TaskTreeNode"];
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "agent": "research",
     *       "status": "suspended",
     *       "input": "Tea?",
     *       "costMicroUsd": 1200,
     *       "isEstimated": false,
     *       "createdAt": "2026-05-01T09:00:02.000Z",
     *       "startedAt": "2026-05-01T09:00:03.000Z",
     *       "completedAt": null,
     *       "children": [
     *         {
     *           "id": "01KQS1C8ZW4H6J8K0M2N4P6Q8R",
     *           "agent": "reader",
     *           "status": "running",
     *           "input": "Tea? (for)",
     *           "costMicroUsd": 1200,
     *           "isEstimated": false,
     *           "createdAt": "2026-05-01T09:00:02.000Z",
     *           "startedAt": "2026-05-01T09:00:03.000Z",
     *           "completedAt": null,
     *           "children": [],
     *           "hasMore": false
     *         }
     *       ],
     *       "hasMore": false
     *     }
     */
    TaskTreeNode: {
      /** The task's id. */
      id: string;
      /** The agent that runs it. */
      agent: string;
      status: components["schemas"]["TaskStatus"];
      /** How its input begins, at most 200 bytes. */
      input: string;
      /** Cost of its own attempts in millionths of a US dollar, without that of its sub-tasks; null when unknown. */
      costMicroUsd: number | null;
      /** Whether a part of that is estimated. */
      isEstimated: boolean;
      /**
       * Format: date-time
       * When it was accepted.
       */
      createdAt: string;
      /** When its current or last attempt began. */
      startedAt: string | null;
      /** When it ended. */
      completedAt: string | null;
      /** The tasks that it delegated, oldest first. */
      children: components["schemas"]["TaskTreeNode"][];
      /** Whether it may have delegated others, which are left out because the tree is large. */
      hasMore: boolean;
    };
    ArtifactList: {
      /** By name. */
      items: components["schemas"]["Artifact"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "name": "report.pdf",
     *       "mediaType": "application/pdf",
     *       "bytes": 20480,
     *       "attempt": 1,
     *       "createdAt": "2026-05-01T09:00:04.000Z"
     *     }
     */
    Artifact: {
      /** Unique among those of the task. */
      name: string;
      /** What its maker said that it is. */
      mediaType: string;
      /** Its size. */
      bytes: number;
      /** The attempt that made it. */
      attempt: number;
      /**
       * Format: date-time
       * When it was stored.
       */
      createdAt: string;
    };
    /** One server-sent event; `data` is JSON on one line. */
    TaskStreamEvent: {
      /**
       * Its name.
       * @constant
       */
      event: "output";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["OutputEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "log";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["LogEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "progress";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["Progress"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "status";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["StatusEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "end";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["EndEvent"];
    };
    OutputEvent: {
      /** In which attempt. A later one starts over. */
      attempt: number;
      /** Grows within one run of an attempt; 0 for all of the output of a task that ended long ago. */
      seq: number;
      /** What comes next. */
      text: string;
    };
    LogEvent: {
      /**
       * Format: date-time
       * When.
       */
      at: string;
      /** In which attempt. */
      attempt: number;
      /**
       * How important.
       */
      level: "info" | "warn" | "error";
      /** The text. */
      text: string;
      /** Data beside the text. */
      fields: {
        [key: string]: unknown;
      } | null;
    };
    StatusEvent: {
      status: components["schemas"]["TaskStatus"];
    };
    /** The last event: the task has ended. */
    EndEvent: {
      status: components["schemas"]["TaskStatus"];
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "cancelled",
     *       "stopping": false,
     *       "subTasks": 0
     *     }
     */
    TaskCancelled: {
      /** The task's id. */
      id: string;
      status: components["schemas"]["TaskStatus"];
      /** It runs; its worker was notified to stop it. */
      stopping: boolean;
      /** Tasks it delegated that were stopped with it. */
      subTasks: number;
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "queued"
     *     }
     */
    TaskRetried: {
      /** The task's id. */
      id: string;
      status: components["schemas"]["TaskStatus"];
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "pending",
     *       "outcome": null,
     *       "position": 0
     *     }
     */
    InputAccepted: {
      /** The message's own task. */
      id: string;
      /** Null when an earlier request under the key made the task and its record is no longer kept. */
      status: components["schemas"]["TaskStatus"] | null;
      /** Null until the running task takes it, or it runs itself. */
      outcome: components["schemas"]["Outcome"] | null;
      /** How many tasks are before it in its line. */
      position: number;
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "status": "queued",
     *       "priority": 9,
     *       "queue": "critical"
     *     }
     */
    TaskPrioritized: {
      /** The task's id. */
      id: string;
      status: components["schemas"]["TaskStatus"];
      /** 10 is the most urgent. */
      priority: number;
      /**
       * The queue of its ticket.
       */
      queue: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote";
    };
    QuestionList: {
      /** The records of this page. */
      items: components["schemas"]["Question"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A.3.5f1d7a20",
     *       "taskId": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "agent": "release",
     *       "session": "releases",
     *       "question": "Publish 1.4.0?",
     *       "choices": [
     *         "yes",
     *         "no"
     *       ],
     *       "schema": null,
     *       "to": [
     *         "anna@example.com"
     *       ],
     *       "by": "others",
     *       "status": "open",
     *       "answer": null,
     *       "answeredBy": null,
     *       "answeredAt": null,
     *       "askedAt": "2026-05-01T09:00:00.000Z",
     *       "expiresAt": "2026-05-08T09:00:00.000Z"
     *     }
     */
    Question: {
      /** Another for anything else that is asked: an answer is for what was shown. */
      id: string;
      /** The task that waits for the answer. */
      taskId: string;
      /** Who asks. */
      agent: string;
      /** The conversation in which the task is a turn. */
      session: string | null;
      /** For people. */
      question: string;
      /** What the answer is one of; null for one that is answered otherwise. */
      choices: string[] | null;
      /** JSON Schema of the answer. Null for a choice or, where there are none, a text. */
      schema: {
        [key: string]: unknown;
      } | null;
      /** Who may answer; null for everyone with the scope, but no visitor. */
      to: string[] | null;
      /**
       * With `others` whoever sent the task may not answer.
       */
      by: "anyone" | "others";
      /**
       * `expired`: nobody answered in time, `withdrawn`: its task ended before.
       */
      status: "open" | "answered" | "expired" | "withdrawn";
      /** What was answered; of an expired one its default. Null for none. */
      answer: unknown;
      /** Who answered; null for nobody. */
      answeredBy: {
        /**
         * Of which sort.
         */
        kind: "key" | "person" | "visitor" | "chat" | "agent" | "configuration";
        /** Of the key, or the person. */
        id: string;
        /** For people. */
        name: string;
      } | null;
      /** When somebody answered. */
      answeredAt: string | null;
      /**
       * Format: date-time
       * When the run came to it.
       */
      askedAt: string;
      /** Until when it can be answered. */
      expiresAt: string | null;
    };
    /**
     * @example {
     *       "id": "5f0c3a9d2b7e4816a1d4c8f27b90e365",
     *       "name": "photo.jpg",
     *       "mediaType": "image/jpeg",
     *       "bytes": 48213,
     *       "expiresAt": "2026-05-02T09:00:00.000Z"
     *     }
     */
    Upload: {
      /** For `attachments` of a task or message. */
      id: string;
      /** Cleaned: no path, no control characters. */
      name: string;
      /** From `Content-Type`. */
      mediaType: string;
      /** Its size. */
      bytes: number;
      /**
       * Format: date-time
       * Until then a task can have it.
       */
      expiresAt: string;
    };
    /**
     * @example {
     *       "name": "report.pdf",
     *       "mediaType": "application/pdf",
     *       "bytes": 20480
     *     }
     */
    AddedArtifact: {
      /** Under which the task has it. */
      name: string;
      /** From `Content-Type`, else by the extension of the name. */
      mediaType: string;
      /** Its size. */
      bytes: number;
    };
    /**
     * @example {
     *       "resumed": 1
     *     }
     */
    EventSent: {
      /** How many runs waited for it, and go on. Those that begin to wait later are not in it. */
      resumed: number;
    };
    FailureList: {
      /** The largest group first. */
      items: components["schemas"]["Failure"][];
      /** When the newest 1,000 of the tasks failed, oldest first; times without a failure are left out. */
      times: {
        /**
         * Format: date-time
         * When the five minutes began.
         */
        at: string;
        /** The code of the failures. */
        code: string;
        /** How many of them failed so in that time. */
        count: number;
      }[];
      /** Where these tasks failed, at most 50 workers, the most failures first. */
      workers: {
        /** The worker that ran the last attempt. */
        worker: string;
        /** How many of them failed there. */
        count: number;
      }[];
      /** Under what these tasks failed, at most 50 releases, the most failures first. */
      releases: {
        /** The release (`MUSTER_RELEASE`) of the worker that ran the last attempt. */
        release: string;
        /** How many of them failed there. */
        count: number;
      }[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
    /**
     * @example {
     *       "code": "NETWORK_ERROR",
     *       "agent": "writer",
     *       "release": null,
     *       "count": 12,
     *       "firstAt": "2026-05-01T09:00:00.000Z",
     *       "lastAt": "2026-05-01T09:20:00.000Z",
     *       "example": {
     *         "taskId": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *         "message": "The connection failed: connect ECONNREFUSED"
     *       }
     *     }
     */
    Failure: {
      /** The code of the failure; null when not grouped by errors. */
      code: string | null;
      /** The agent that ran them; null when not grouped by agents. */
      agent: string | null;
      /** By `groupBy=release`: the release that ran the last attempts; null for workers of an earlier version of Muster. */
      release: string | null;
      /** How many of the tasks failed so; where a page reads tasks, of those. */
      count: number;
      /**
       * Format: date-time
       * When the first accepted of them failed for good.
       */
      firstAt: string;
      /**
       * Format: date-time
       * When the last accepted of them failed for good.
       */
      lastAt: string;
      /** One of them. */
      example: {
        /** Its task. */
        taskId: string;
        /** Why it failed, for people. */
        message: string;
      };
    };
    /**
     * @example {
     *       "items": [
     *         {
     *           "group": "2026-05-01",
     *           "inputTokens": 120000,
     *           "outputTokens": 8000,
     *           "cachedInputTokens": 90000,
     *           "reasoningTokens": 0,
     *           "costMicroUsd": 25750,
     *           "unknown": 0,
     *           "estimated": 0,
     *           "calls": 0,
     *           "attempts": 40
     *         }
     *       ],
     *       "total": {
     *         "inputTokens": 120000,
     *         "outputTokens": 8000,
     *         "cachedInputTokens": 90000,
     *         "reasoningTokens": 0,
     *         "costMicroUsd": 25750,
     *         "unknown": 0,
     *         "estimated": 0,
     *         "calls": 0,
     *         "attempts": 40
     *       },
     *       "nextCursor": null
     *     }
     */
    UsageList: {
      /** Days in order, others by their cost. */
      items: {
        /** The day, name or id; null for an unknown model, and for tasks without one. */
        group: string | null;
        /** Tokens that were sent, cached ones included. */
        inputTokens: number;
        /** Tokens that were answered, reasoning included. */
        outputTokens: number;
        /** Tokens that were sent and that the provider had cached. */
        cachedInputTokens: number;
        /** Tokens of the model's reasoning. */
        reasoningTokens: number;
        /** Cost in millionths of a dollar, without the uses whose cost is unknown; null when all of them are. */
        costMicroUsd: number | null;
        /** Uses whose cost is unknown. */
        unknown: number;
        /** Uses whose figures are estimated. */
        estimated: number;
        /** Model calls that the fleet made. */
        calls: number;
        /** Attempts that ended and used something, each under its first model. */
        attempts: number;
      }[];
      /** The sum of all. */
      total: {
        /** Tokens that were sent, cached ones included. */
        inputTokens: number;
        /** Tokens that were answered, reasoning included. */
        outputTokens: number;
        /** Tokens that were sent and that the provider had cached. */
        cachedInputTokens: number;
        /** Tokens of the model's reasoning. */
        reasoningTokens: number;
        /** Cost in millionths of a dollar, without the uses whose cost is unknown; null when all of them are. */
        costMicroUsd: number | null;
        /** Uses whose cost is unknown. */
        unknown: number;
        /** Uses whose figures are estimated. */
        estimated: number;
        /** Model calls that the fleet made. */
        calls: number;
        /** Attempts that ended and used something, each under its first model. */
        attempts: number;
      };
      /** Of tasks, sessions, people, keys and schedules: whether only the newest `limits.maxPreviewed` tasks were read. */
      isLowerBound?: boolean | undefined;
      /** Null: this list has one page. */
      nextCursor: null;
    };
    SessionList: {
      /** The records of this page. */
      items: components["schemas"]["SessionSummary"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
    SessionSummary: {
      /** Names the record. */
      id: string;
      /**
       * What becomes of a message that meets work of its session.
       */
      mode: "queue" | "interrupt" | "collect" | "steer" | "latest" | "reject";
      /**
       * Where the mode comes from.
       */
      modeSource: "message" | "session" | "surface" | "global";
      /** Where people write from. */
      surface: string;
      /** Where its newest task came from: a surface of chat such as `telegram` or `webchat`, else the source of the task. */
      origin: string;
      /** Its newest task; null for an unused session. */
      lastTask: {
        /** Names the record. */
        id: string;
        /** The agent that runs the work. */
        agent: string;
        /**
         * Where it came from.
         */
        source: "chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation";
        status: components["schemas"]["TaskStatus"];
        /** The beginning of its input. */
        text: string;
        /** Who wrote it, by the surface's own id. */
        user: string | null;
        /** The name that they have there; null when unknown. */
        userName: string | null;
        /**
         * Format: date-time
         * When it was made.
         */
        createdAt: string;
      } | null;
      /** The task whose turn it is. */
      holder: {
        /** The task. */
        taskId: string;
        /** Null while it does not run: before its start, and between attempts. */
        startedAt: string | null;
        /** The worker that holds it. */
        worker: string | null;
      } | null;
      /** The next ten, in order. */
      waiting: {
        /** The task. */
        taskId: string;
        /** How many are before it. */
        position: number;
        /** Why. */
        reason: string;
      }[];
      /** How many wait. */
      waitingTotal: number;
    };
    Session: {
      /** Names the record. */
      id: string;
      /**
       * What becomes of a message that meets work of its session.
       */
      mode: "queue" | "interrupt" | "collect" | "steer" | "latest" | "reject";
      /**
       * Where the mode comes from.
       */
      modeSource: "message" | "session" | "surface" | "global";
      /** The surface of chat whose mode applies: of its last message. */
      surface: string;
      /** The task whose turn it is. */
      holder: {
        /** The task. */
        taskId: string;
        /** Null while it does not run: before its start, and between attempts. */
        startedAt: string | null;
        /** The worker that holds it. */
        worker: string | null;
        /** Where it is. */
        status: string;
        /** Why it does not run yet. */
        reason: string | null;
      } | null;
      /** The next hundred, in order; `position` counts the tasks before each. */
      waiting: {
        /** The task. */
        taskId: string;
        /** How many are before it. */
        position: number;
        /** Why. */
        reason: string;
      }[];
      /** How many wait. */
      waitingTotal: number;
      /** Runs of schedules that report into it and have not ended. They go on beside its tasks. */
      runs: {
        /** The task. */
        taskId: string;
        /** Null while it does not run: before its start, and between attempts. */
        startedAt: string | null;
        /** The worker that holds it. */
        worker: string | null;
        /** Where it is. */
        status: string;
        /** Why it does not run yet. */
        reason: string | null;
      }[];
      /** Turns that an agent is given as history. */
      transcriptLength: number;
      /** What programs keep for their next run in this session: their own session, and their working folder. Visitors do not see them. */
      workspaces: {
        /** The agent that runs the work. */
        agent: string;
        /** The task that ran in it last. */
        taskId: string;
        /**
         * Format: date-time
         * When it was last kept.
         */
        keptAt: string;
        /**
         * Format: date-time
         * Its next run begins anew after this, or once that task is not kept any more.
         */
        expiresAt: string;
        /** As they are stored, compressed; null while its first run on a daemon goes on. */
        bytes: number | null;
        /** What was changed in its checkout, as `git diff --stat` says it; null without a checkout. */
        changes: string | null;
        /** Null for one that workers go on in. */
        daemon: {
          /** Names the record. */
          id: string;
          /** Null once it is not registered any more. */
          name: string | null;
          /**
           * Where it is.
           */
          status: "online" | "busy" | "draining" | "offline";
        } | null;
      }[];
    };
    /** What was removed; final once it is completed. */
    ErasedCounts: {
      /** Tasks with input, output, attempts, journal, checkpoint and questions. */
      tasks: number;
      /** Files that came with these, were made by them, or were kept for the next run. */
      files: number;
      /** Replies, callbacks and questions on their way out, or sent. */
      deliveries: number;
      /** Events that named these tasks. */
      notifications: number;
      /** Bodies of webhooks that made these tasks. */
      webhooks: number;
      /** Sessions with their choices and what programs kept of them. */
      sessions: number;
    };
    /**
     * @example {
     *       "id": "01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "kind": "session",
     *       "status": "completed",
     *       "stopping": 0,
     *       "removed": {
     *         "tasks": 12,
     *         "files": 3,
     *         "deliveries": 12,
     *         "notifications": 48,
     *         "webhooks": 0,
     *         "sessions": 1
     *       },
     *       "kept": "Backups that were made before keep it until they are deleted.",
     *       "by": "k1",
     *       "createdAt": "2026-05-01T09:00:00.000Z",
     *       "completedAt": "2026-05-01T09:00:01.000Z"
     *     }
     */
    Erasure: {
      /** The erasure's id; sorts by time. */
      id: string;
      /**
       * Whose data.
       */
      kind: "session" | "person";
      /**
       * Whether all of it is gone.
       */
      status: "running" | "completed";
      /** Running tasks that it waits for: they were told to stop. */
      stopping: number;
      removed: components["schemas"]["ErasedCounts"];
      /** What still has it, for people. */
      kept: string;
      /** Id of the key that requested it. */
      by: string | null;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
      /** When it ended. */
      completedAt: string | null;
    };
    /** A command, or the key came before. */
    CommandOrAccepted: components["schemas"]["CommandAnswer"] | components["schemas"]["AcceptedMessage"];
    /** The message was a command; `text` is its answer for the person. */
    CommandAnswer: {
      /** The command that was given. */
      command: string;
      /** The text. */
      text: string;
    };
    AcceptedMessage: {
      /** Names the record. */
      id: string;
      /** Null when an earlier request under the key made the task and its record is no longer kept. */
      status: components["schemas"]["TaskStatus"] | null;
      /** How many tasks are before it in the session. */
      position: number;
      /** What became of it, when that is final already. */
      outcome: components["schemas"]["Outcome"] | null;
    };
    /** One server-sent event; `data` is JSON on one line. */
    SessionStreamEvent: {
      /**
       * Its name.
       * @constant
       */
      event: "history";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["HistoryEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "message";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["MessageEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "output";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["SessionOutputEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "status";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["SessionStatusEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "question";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["SessionQuestionEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "end";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["SessionEndEvent"];
    };
    HistoryEvent: {
      /** Oldest first. */
      items: components["schemas"]["EndedTurn"][];
    };
    /** A message that has its outcome. */
    EndedTurn: {
      /** The task of the message. */
      taskId: string;
      /** What was written. */
      text: string;
      /** Who wrote it. */
      user: string | null;
      /** The agent that runs the work. */
      agent: string;
      status: components["schemas"]["TaskStatus"];
      /** When it was accepted. */
      createdAt: string | null;
      /** Files that it came with. */
      attachments: components["schemas"]["TurnFile"][];
      /** What became of it, when that says more than its status. */
      outcome: components["schemas"]["Outcome"] | null;
      /** The answer; of a stopped message what was written, while that is kept. */
      output: string | null;
      /** Why its last attempt failed. */
      error: {
        /** What to branch on. */
        code: string;
        /** The text. */
        message: string;
      } | null;
      /** When it ended. */
      completedAt: string | null;
      /** Files that it made. */
      artifacts: components["schemas"]["TurnFile"][];
    };
    TurnFile: {
      /** Unique among those of its message. */
      name: string;
      /** What its sender said that it is. */
      mediaType: string;
      /** Null for one that is fetched from an address. */
      bytes: number | null;
    };
    MessageEvent: {
      /** The task of the message. */
      taskId: string;
      /** What was written. */
      text: string;
      /** Who wrote it. */
      user: string | null;
      /** The agent that runs the work. */
      agent: string;
      status: components["schemas"]["TaskStatus"];
      /** When it was accepted. */
      createdAt: string | null;
      /** Files that it came with. */
      attachments: components["schemas"]["TurnFile"][];
    };
    SessionOutputEvent: {
      /** The task of the message. */
      taskId: string;
      /** In which attempt. A later one starts over. */
      attempt: number;
      /** Grows within one run of an attempt; 0 for all of the output of a task that ended long ago. */
      seq: number;
      /** What comes next. */
      text: string;
    };
    SessionStatusEvent: {
      /** The task of the message. */
      taskId: string;
      status: components["schemas"]["TaskStatus"];
      /** What became of it, when that says more than its status. */
      outcome: components["schemas"]["Outcome"] | null;
    };
    /** The session is asked, or a question that it was asked has ended. */
    SessionQuestionEvent: {
      /** The task of the message. */
      taskId: string;
      /** The question. */
      id: string;
      /** For people. */
      question: string;
      /** What the answer is one of. */
      choices: string[] | null;
      /** JSON Schema of an answer that is no choice; null for a text. */
      schema: {
        [key: string]: unknown;
      } | null;
      /**
       * Where it is.
       */
      status: "open" | "answered" | "expired" | "withdrawn";
      /** Null while there is none. */
      answer: unknown;
      /** Until when it is open. */
      expiresAt: string | null;
    };
    /** The message has its outcome. */
    SessionEndEvent: {
      /** The task of the message. */
      taskId: string;
      status: components["schemas"]["TaskStatus"];
      /** The final text. */
      output: string | null;
      /** What became of it, when that says more than its status. */
      outcome: components["schemas"]["Outcome"] | null;
      /** Why its last attempt failed. */
      error: {
        /** What to branch on. */
        code: string;
        /** The text. */
        message: string;
      } | null;
      /** Files that it made. */
      artifacts: components["schemas"]["TurnFile"][];
    };
    Transcript: {
      /** Oldest first. */
      items: components["schemas"]["Turn"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    Turn: {
      /** The task. */
      taskId: string;
      /** What the agent is given. */
      input: string;
      /** The final text. */
      output: string;
      /** When it ended. */
      completedAt: string | null;
    };
    SessionStopped: {
      /** Tasks that had not started. */
      withdrawn: number;
      /** Running tasks whose worker was notified to stop them. */
      stopped: number;
    };
    NewVisitor: {
      /** Names the record. */
      id: string;
      /** What requests carry. It cannot be read again. */
      token: string;
      /**
       * Format: date-time
       * When it expires.
       */
      expiresAt: string;
    };
    VisitorList: {
      /** Oldest first. */
      items: components["schemas"]["Visitor"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    Visitor: {
      /** Names the record. */
      id: string;
      /** Who writes the messages that come with it. */
      name: string;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
      /**
       * Format: date-time
       * When it expires.
       */
      expiresAt: string;
    };
    DeliveryList: {
      /** The records of this page. */
      items: components["schemas"]["Delivery"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    Delivery: {
      /** Names the record. */
      id: string;
      /** The task that it belongs to. */
      task: string;
      /**
       * What it is.
       */
      kind: "reply" | "callback" | "question";
      /** The chat platform. */
      platform: string | null;
      /**
       * Where it is.
       */
      status: "pending" | "delivered" | "failed" | "unknown";
      /** The messages that make it up. */
      parts: {
        /** Its place among the parts, from 0. */
        index: number;
        /** The platform's id of the message. */
        messageId: string | null;
        /** Digest of the text. */
        digest: string | null;
        /** Whether its text changes no more. */
        isFinal: boolean;
      }[];
      /** How often it was tried. */
      attempts: number;
      /** Why it failed. */
      error: {
        /** What to branch on. */
        code: string;
        /** The text. */
        message: string;
      } | null;
      /** When it was made. */
      createdAt: string | null;
      /** When all of it was delivered. */
      deliveredAt: string | null;
      /** When it is tried next. */
      nextTryAt: string | null;
    };
    CallbackSecret: {
      /** As Standard Webhooks writes it: `whsec_...`. */
      secret: string;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
    };
    CallbackEndpointList: {
      /** Latest failure first. */
      items: components["schemas"]["CallbackEndpoint"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    CallbackEndpoint: {
      /** The address. */
      url: string;
      /** How many calls failed in a row. */
      failures: number;
      /** Why it failed. */
      error: string;
      /**
       * Format: date-time
       * Since when every call failed.
       */
      failingSince: string;
      /**
       * Format: date-time
       * When the last call failed.
       */
      lastFailureAt: string;
      /** When it was disabled; null while it is called. */
      disabledAt: string | null;
    };
    AgentList: {
      /** By name. */
      items: components["schemas"]["Agent"][];
      /** Null: this list has one page. */
      nextCursor: null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    /**
     * @example {
     *       "id": "writer",
     *       "origin": "api",
     *       "kind": "http",
     *       "description": "Writes release notes",
     *       "version": null,
     *       "timeoutMs": 60000,
     *       "maxRunning": 4,
     *       "maxAttempts": null,
     *       "retryDelayMs": null,
     *       "retryBackoff": null,
     *       "effective": {
     *         "timeoutMs": 60000,
     *         "maxAttempts": 3,
     *         "retryDelayMs": 60000,
     *         "retryBackoff": "exponential"
     *       },
     *       "directives": "trusted",
     *       "hold": null,
     *       "url": "https://writer.example.com/run",
     *       "hasSecret": true
     *     }
     */
    Agent: {
      /** The name that tasks call it by. */
      id: string;
      /**
       * `config`: of the installation; `api`: made by the tenant.
       */
      origin: "config" | "api";
      /**
       * How it runs.
       */
      kind: "echo" | "function" | "openai" | "http" | "command" | "daemon";
      /** For people who choose an agent. */
      description: string | null;
      /** Of its code: runs go on with the one that they began with. Null for none. */
      version: string | null;
      /** How long one attempt may run; null takes that of the configuration. */
      timeoutMs: number | null;
      /** Tasks of each tenant that run at once; null for no bound. */
      maxRunning: number | null;
      /** Attempts of a task; null takes those of the configuration. */
      maxAttempts: number | null;
      /** Before the first retry; null takes that of the configuration. */
      retryDelayMs: number | null;
      /** How that delay grows; null takes the default. */
      retryBackoff: ("exponential" | "linear") | null;
      /** What holds for a task of the API that says nothing itself, defaults included. */
      effective: {
        /** How long one attempt may run. */
        timeoutMs: number;
        /** Attempts of a task. */
        maxAttempts: number;
        /** Before the first retry. */
        retryDelayMs: number;
        /**
         * How that delay grows.
         */
        retryBackoff: "exponential" | "linear";
      };
      /** What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class. */
      retries?: {
        [key: string]: "retry" | "stop" | "wait";
      } | undefined;
      /** Whether `/schedule` lines in its output are applied; `trusted`: not where a webhook or a visitor has written. */
      directives: boolean | "trusted";
      /** Address of the API of an `openai` agent, without a login. */
      baseUrl?: string | undefined;
      /** Model of an `openai` agent. */
      model?: string | undefined;
      /** Instructions of an `openai` agent. */
      system?: string | undefined;
      /** Sampling temperature of an `openai` agent. */
      temperature?: number | undefined;
      /** Bound of one answer of an `openai` agent. */
      maxOutputTokens?: number | undefined;
      /** Names that parameters of the calls of an `openai` agent have instead; null leaves one out. */
      parameters?: {
        [key: string]: string | null;
      } | undefined;
      /** Calls of the model that one attempt of an `openai` agent may make. */
      maxSteps?: number | undefined;
      /** How long its tasks may take: until then calls of its model may go by batches. */
      within?: (number | string) | undefined;
      /** Names of `tools` that the model of an `openai` agent may call. */
      tools?: string[] | undefined;
      /** Names of `mcp`: servers whose tools it may call. */
      mcp?: string[] | undefined;
      /** Agents that it may give sub-tasks to. */
      delegates?: string[] | undefined;
      /** Whether the output of a `command` agent is plain text, and no Markdown. */
      hasPlainOutput?: boolean | undefined;
      /** Address of an `http` agent, without a login. */
      url?: string | undefined;
      /** What a daemon has to have for a `daemon` agent. */
      capabilities?: string[] | undefined;
      /** The folder that each session of a `command` or `daemon` agent has. With neither `git` nor `keep` it begins as what a folder has, which is not shown. */
      workspace?: {
        /** Repository that it begins as a checkout of: its address without a login. */
        git?: string | undefined;
        /** Branch, tag or commit of that; absent for the branch that the repository names. */
        ref?: string | undefined;
        /**
         * It begins empty.
         * @constant
         */
        keep?: true | undefined;
      } | undefined;
      /** JSON Schema of what its tasks are given, of a `function` agent with an `input`; null where its library cannot say it so. */
      inputSchema?: ({
        [key: string]: unknown;
      } | null) | undefined;
      /** JSON Schema of what its tasks result in, of a `function` agent with an `output`; null where its library cannot say it so. */
      outputSchema?: ({
        [key: string]: unknown;
      } | null) | undefined;
      /** What holds the tenant's tasks of it; null while they may start. */
      hold: {
        /**
         * `agent`: a person paused it; `failures`: it failed too often in a row.
         */
        gate: "agent" | "failures";
        /** Since when. */
        since: string | null;
        /** The same for people. */
        reason: string;
      } | null;
      /** Whether a key or secret is set; it is never shown. */
      hasSecret?: boolean | undefined;
    };
    BudgetList: {
      /** By id. */
      items: components["schemas"]["Budget"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "id": "all",
     *       "origin": "api",
     *       "scope": "tenant",
     *       "of": null,
     *       "per": "month",
     *       "tz": "Europe/Berlin",
     *       "softMicroUsd": 80000000,
     *       "hardMicroUsd": 100000000,
     *       "atHard": "pause",
     *       "downgradeTo": null,
     *       "spentMicroUsd": 12345678,
     *       "reservedMicroUsd": 20000,
     *       "windowEndsAt": "2026-05-31T22:00:00.000Z",
     *       "held": 0,
     *       "warnings": []
     *     }
     */
    Budget: {
      /** The budget's id. */
      id: string;
      /**
       * `config`: of the installation; `api`: made by the tenant.
       */
      origin: "config" | "api";
      /**
       * What it counts.
       */
      scope: "tenant" | "agent" | "session" | "schedule" | "task" | "key";
      /**
       * Which agent, session, schedule, first task or key (its id); null gives each its own count. Null for a tenant.
       * @default null
       */
      of: string | null;
      /**
       * The length of a window, after which the count starts again at 0; `total` has no end.
       */
      per: "hour" | "day" | "month" | "total";
      /**
       * Zone in which its days and months begin.
       * @default UTC
       */
      tz: string;
      /**
       * Spending this much, in millionths of a US dollar, notifies once a window.
       * @default null
       */
      softMicroUsd: number | null;
      /**
       * No more than this is spent in a window, in millionths of a US dollar.
       * @default null
       */
      hardMicroUsd: number | null;
      /**
       * `deny` fails the task, `pause` holds it until the next window or a raise, `downgrade` takes the model `downgradeTo`.
       * @default deny
       */
      atHard: "deny" | "pause" | "downgrade";
      /**
       * The model of a downgrade.
       * @default null
       */
      downgradeTo: string | null;
      /** Spent in the current window; null where each name has its own count. */
      spentMicroUsd: number | null;
      /** Reserved there by calls under way. */
      reservedMicroUsd: number | null;
      /** When the current window ends; null for never. */
      windowEndsAt: string | null;
      /** Tasks that it holds. */
      held: number | null;
      /** Agents of which not one call fits into it, or none with all that it may answer: a sentence for each. */
      warnings: string[];
    };
    /**
     * @example {
     *       "tasks": 812,
     *       "spentMicroUsd": 9400000,
     *       "refused": 41,
     *       "savedMicroUsd": 620000,
     *       "warnings": 2,
     *       "since": "2026-05-01T09:00:00.000Z",
     *       "agentWarnings": []
     *     }
     */
    BudgetPreview: {
      /** Tasks that ran and whose cost is known, as far as they were read. */
      tasks: number;
      /** What they cost in all. */
      spentMicroUsd: number;
      /** Tasks that would not have had their first call, because too little of a window was left. */
      refused: number;
      /** What these cost. */
      savedMicroUsd: number;
      /** Windows whose soft line would have been crossed. */
      warnings: number;
      /** The tasks were accepted from then on. */
      since: string | null;
      /** Agents of which not one call fits into it, or none with all that it may answer: a sentence for each. */
      agentWarnings: string[];
    };
    /**
     * @example {
     *       "id": "0197a2b4c6d87e10a2b3c4d5e6f70819",
     *       "number": 3,
     *       "name": "morning report",
     *       "kind": "cron",
     *       "rule": "0 9 * * 1-5",
     *       "sentence": "At 09:00, Monday through Friday",
     *       "tz": "Europe/Berlin",
     *       "agent": "writer",
     *       "message": "Summarise what was merged since yesterday.",
     *       "context": null,
     *       "status": "active",
     *       "pausedReason": null,
     *       "priority": 10,
     *       "within": null,
     *       "channel": null,
     *       "platform": null,
     *       "callbackUrl": null,
     *       "missed": "once",
     *       "maxLateness": null,
     *       "overlap": "skip",
     *       "jitter": null,
     *       "exact": false,
     *       "until": null,
     *       "maxRuns": null,
     *       "nextFireAt": "2026-06-01T07:00:00.000Z",
     *       "next": [
     *         "2026-06-01T07:00:00.000Z",
     *         "2026-06-02T07:00:00.000Z",
     *         "2026-06-03T07:00:00.000Z"
     *       ],
     *       "lastRunAt": null,
     *       "lastRunId": null,
     *       "runCount": 0,
     *       "madeBy": null,
     *       "createdAt": "2026-05-31T12:00:00.000Z",
     *       "updatedAt": "2026-05-31T12:00:00.000Z"
     *     }
     */
    Schedule: {
      /** Its id. */
      id: string;
      /** Short, and the tenant's own: `/schedule pause 3`. */
      number: number;
      /** For people. */
      name: string | null;
      /**
       * An interval, wall times, or one time.
       */
      kind: "heartbeat" | "cron" | "once";
      /** The normalised rule, which reads as the same rule again. */
      rule: string;
      /** The rule in English, with wall times of `tz`. */
      sentence: string;
      /** IANA zone of its wall times. */
      tz: string;
      /** The agent that runs. */
      agent: string;
      /** What the agent is given as input. */
      message: string;
      /** Data for the agent. */
      context: {
        [key: string]: unknown;
      } | null;
      status: components["schemas"]["ScheduleStatus"];
      /** Why it is paused, or has failed. */
      pausedReason: string | null;
      /** Of its runs, from 1 to 10; 10 goes first. */
      priority: number;
      /** How long each run may take: until then calls of its model may go by batches. */
      within: string | number | null;
      /** The chat that its results are sent to. */
      channel: string | null;
      /** The platform of that chat. */
      platform: string | null;
      /** Its results are posted here. */
      callbackUrl: string | null;
      /** Policy for missed occurrences: `skip`, `once`, `all` or `all(20)`. */
      missed: string;
      /** No run starts later than this after its occurrence. */
      maxLateness: string | number | null;
      /**
       * Policy for an occurrence while the previous run has not ended.
       */
      overlap: "skip" | "queue" | "cancel-other" | "allow";
      /** Each occurrence is delayed by a share of this. */
      jitter: string | number | null;
      /** Never spread over the full hour. */
      exact: boolean;
      /** The last time that counts. */
      until: string | null;
      /** It ends after so many runs. */
      maxRuns: number | null;
      /** The next occurrence. */
      nextFireAt: string | null;
      /** The next three. */
      next: string[];
      /** When it made its last run. */
      lastRunAt: string | null;
      /** The task of its last run. */
      lastRunId: string | null;
      /** Runs so far, without skipped ones. */
      runCount: number;
      /** Who wrote the `/schedule` line that made it; null for a schedule of a person, of the API or of the configuration. */
      madeBy: {
        /** The agent that wrote the line. */
        agent: string;
        /** The hook of its task. */
        hook: string | null;
        /** Whether the words of its task could give no orders; those of its runs cannot either. */
        untrusted: boolean;
      } | null;
      /**
       * Format: date-time
       * When it was created.
       */
      createdAt: string;
      /**
       * Format: date-time
       * When it was last changed.
       */
      updatedAt: string;
    };
    ScheduleList: {
      /** Newest first. */
      items: components["schemas"]["Schedule"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
      /** With `q`: how far the search came. */
      search?: {
        /** Schedules that this page and the pages before it have checked. */
        searched: number;
        /** Schedules that there are. */
        total: number;
      } | undefined;
    };
    /**
     * @example {
     *       "kind": "heartbeat",
     *       "rule": "every 5m",
     *       "sentence": "Every 5 minutes",
     *       "tz": "UTC",
     *       "next": [
     *         "2026-06-01T12:05:00.000Z"
     *       ]
     *     }
     */
    SchedulePreview: {
      /**
       * An interval, wall times, or one time.
       */
      kind: "heartbeat" | "cron" | "once";
      /** The normalised rule, which reads as the same rule again. */
      rule: string;
      /** The rule in English, with wall times of `tz`. */
      sentence: string;
      /** IANA zone of the wall times. */
      tz: string;
      /** Its next times, as many as `count` asks for. */
      next: string[];
    };
    RunAccepted: {
      /** Of its task. */
      id: string;
      /** Null when an earlier request under the key made the task and its record is no longer kept. */
      status: components["schemas"]["TaskStatus"] | null;
    };
    Backfill: {
      /** Oldest first. */
      items: {
        /**
         * Format: date-time
         * When it was due.
         */
        occurrence: string;
        /** The task of its run; null where a dry run found none. */
        id: string | null;
        /** Whether this request made the run, or would make it. */
        isNew: boolean;
      }[];
      /** How many are new. */
      newRuns: number;
    };
    RunList: {
      /** Newest first. */
      items: components["schemas"]["Run"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
    Run: {
      /** Of its task. */
      id: string;
      /** Its schedule. */
      scheduleId: string;
      /** When it was due. */
      occurrence: string | null;
      /**
       * A run that waits for a retry is pending.
       */
      status: "pending" | "running" | "succeeded" | "failed" | "skipped";
      /** Why it failed, was skipped or waits for a retry. */
      reason: string | null;
      /** The agent that runs. */
      agent: string;
      /** The kind of rule, or `run-now` for a run by request. */
      trigger: ("heartbeat" | "cron" | "once" | "run-now" | "hook" | "retry") | null;
      /** When its first attempt started. */
      startedAt: string | null;
      /** When it ended. */
      completedAt: string | null;
      /** Tokens that the model read. */
      inputTokens: number | null;
      /** Tokens that the model wrote. */
      outputTokens: number | null;
      /** What it cost, in millionths of a US dollar; null when unknown. */
      costMicroUsd: number | null;
      /** The beginning of its output. */
      resultSummary: string | null;
      /** Its last error. */
      error: {
        /** Of the list of error codes. */
        code: string;
        /** For people. */
        message: string;
      } | null;
      /** `X-Request-Id` of the request that made it; a run that a schedule made has its own. */
      requestId: string;
      /** W3C trace id, from `traceparent`; the log calls it `trace`. */
      traceId: string;
    };
    /** One server-sent event; `data` is JSON on one line. */
    NotificationStreamEvent: {
      /**
       * Its name.
       * @constant
       */
      event: "open";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["OpenEvent"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "notification";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["Notification"];
    } | {
      /**
       * Its name.
       * @constant
       */
      event: "gap";
      /** Sent back as `Last-Event-ID`, it resumes after this event. */
      id?: string | undefined;
      data: components["schemas"]["GapEvent"];
    };
    OpenEvent: {
      /**
       * It is open.
       * @constant
       */
      ok: true;
    };
    /** What happened. Further fields may come. */
    Notification: components["schemas"]["RunNotification"] | components["schemas"]["TaskNotification"] | components["schemas"]["ScheduleNotification"] | components["schemas"]["BudgetNotification"] | components["schemas"]["ActionNotification"] | components["schemas"]["QuestionNotification"] | components["schemas"]["QuestionDigestNotification"] | components["schemas"]["AgentNotification"] | components["schemas"]["DaemonNotification"] | components["schemas"]["CircuitNotification"] | components["schemas"]["PressureNotification"] | components["schemas"]["FindingNotification"] | components["schemas"]["FleetNotification"];
    RunNotification: {
      /** The task. */
      taskId: string;
      /** The agent that runs the work. */
      agent?: string | undefined;
      /** The conversation in which it is a turn. */
      session?: (string | null) | undefined;
      /** Where it came from. */
      source?: string | undefined;
      /** The schedule that made it. */
      scheduleId?: (string | null) | undefined;
      /** Of its schedule. */
      number?: (number | null) | undefined;
      /** Of its schedule. */
      name?: (string | null) | undefined;
      /** In which attempt. */
      attempt?: number | undefined;
      /** What to branch on. */
      code?: (string | null) | undefined;
      /** Of a failure: whether it is tried again. */
      willRetry?: boolean | undefined;
      /**
       * What it is.
       */
      kind: "run.started" | "run.completed" | "run.failed" | "run.skipped";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The task of the run. */
      runId: string;
      /** When it was due. */
      occurrence: string | null;
      /** Where it is. */
      status: string;
      /** When it began. */
      startedAt: string | null;
      /** When it ended. */
      completedAt: string | null;
      /** Why. */
      reason?: (string | null) | undefined;
      /** The beginning of its output. */
      resultSummary?: (string | null) | undefined;
      /** Tokens that were sent to the model. */
      inputTokens?: (number | null) | undefined;
      /** Tokens that the model answered. */
      outputTokens?: (number | null) | undefined;
      /** Why it failed. */
      error?: ({
        /** What to branch on. */
        code: string;
        /** The text. */
        message: string;
      } | null) | undefined;
    } & {
      [key: string]: unknown;
    };
    /** A step of a task. Some kinds have fields of their own. */
    TaskNotification: {
      /** The task. */
      taskId: string;
      /** The agent that runs the work. */
      agent?: string | undefined;
      /** The conversation in which it is a turn. */
      session?: (string | null) | undefined;
      /** Where it came from. */
      source?: string | undefined;
      /** The schedule that made it. */
      scheduleId?: (string | null) | undefined;
      /** Of its schedule. */
      number?: (number | null) | undefined;
      /** Of its schedule. */
      name?: (string | null) | undefined;
      /** In which attempt. */
      attempt?: number | undefined;
      /** What to branch on. */
      code?: (string | null) | undefined;
      /** Of a failure: whether it is tried again. */
      willRetry?: boolean | undefined;
      /** What it is. */
      kind: string;
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** Why. */
      reason?: (string | null) | undefined;
    } & {
      [key: string]: unknown;
    };
    ScheduleNotification: {
      /** What it is. */
      kind: string;
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The schedule that made it. */
      scheduleId: string | null;
      /** What people call it. */
      number: number | null;
      /** For people. */
      name: string | null;
      /** The agent that runs the work. */
      agent: string | null;
      /** The conversation in which it is a turn. */
      session: string | null;
      /** Why. */
      reason: string | null;
    } & {
      [key: string]: unknown;
    };
    BudgetNotification: {
      /**
       * What it is.
       */
      kind: "budget.warning" | "budget.exceeded";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** Its id. */
      budget: string;
      /** What it bounds. */
      scope: string;
      /** Which one of these. */
      of: string | null;
      /** Its window. */
      per: string;
      /** What was spent in its window, in millionths of a dollar. */
      spentMicroUsd: number;
      /** Its soft line; null for none. */
      softMicroUsd: number | null;
      /** Its hard line; null for none. */
      hardMicroUsd: number | null;
      /** What is done at its hard line. */
      atHard: string;
      /** When its window ends; null for never. */
      until: string | null;
    } & {
      [key: string]: unknown;
    };
    ActionNotification: {
      /** What it is. */
      kind: string;
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The action. */
      actionId: string;
      /** What is done to the tasks. */
      action: string;
      /** Where it is. */
      status: string;
      /** Tasks that it found. */
      matched: number;
      /** Of them, those that were changed. */
      done: number;
      /** Those that it does not apply to. */
      skipped: number;
      /** Those that could not be changed. */
      failed: number;
    } & {
      [key: string]: unknown;
    };
    /** A run asks people, its question is still open, or somebody answered it. */
    QuestionNotification: {
      /** The task. */
      taskId: string;
      /** The agent that runs the work. */
      agent?: string | undefined;
      /** The conversation in which it is a turn. */
      session?: (string | null) | undefined;
      /** Where it came from. */
      source?: string | undefined;
      /** The schedule that made it. */
      scheduleId?: (string | null) | undefined;
      /** Of its schedule. */
      number?: (number | null) | undefined;
      /** Of its schedule. */
      name?: (string | null) | undefined;
      /** In which attempt. */
      attempt?: number | undefined;
      /** What to branch on. */
      code?: (string | null) | undefined;
      /** Of a failure: whether it is tried again. */
      willRetry?: boolean | undefined;
      /**
       * What it is.
       */
      kind: "question.opened" | "question.reminded" | "question.answered";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The question. */
      questionId: string;
      /** What is asked; absent once it is no longer kept. */
      question?: string | undefined;
      /** What the answer is one of. */
      choices?: (string[] | null) | undefined;
      /** Who answered. */
      answeredBy?: string | undefined;
      /**
       * Format: date-time
       * When it was asked.
       */
      askedAt?: string | undefined;
      /** When it expires. */
      expiresAt?: (string | null) | undefined;
    } & {
      [key: string]: unknown;
    };
    /** Once a day: what is open. */
    QuestionDigestNotification: {
      /**
       * What it is.
       * @constant
       */
      kind: "question.digest";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** Questions that are open. */
      open: number;
      /** The oldest of them. */
      questions: ({
        /** The question. */
        questionId: string;
        /** What is asked; absent once it is no longer kept. */
        question?: string | undefined;
        /** What the answer is one of. */
        choices?: (string[] | null) | undefined;
        /** The task. */
        taskId: string;
        /** The agent that runs the work. */
        agent: string;
        /** The conversation in which it is a turn. */
        session: string | null;
        /**
         * Format: date-time
         * When it was asked.
         */
        askedAt: string;
        /** When it expires. */
        expiresAt: string | null;
      } & {
        [key: string]: unknown;
      })[];
    } & {
      [key: string]: unknown;
    };
    /** An agent failed too often in a row, and its tasks are held. */
    AgentNotification: {
      /**
       * What it is.
       * @constant
       */
      kind: "agent.held";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The agent that runs the work. */
      agent: string;
      /** How many calls failed in a row. */
      failures: number;
      /** What to branch on. */
      code: string;
      /** The task. */
      taskId: string;
    } & {
      [key: string]: unknown;
    };
    DaemonNotification: {
      /**
       * What it is.
       */
      kind: "daemon.connected" | "daemon.disconnected";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** Its id. */
      daemon: string;
      /** For people. */
      name: string;
      /** Only tasks of this user reach it; null for tasks of all. */
      user: string | null;
    } & {
      [key: string]: unknown;
    };
    CircuitNotification: {
      /**
       * What it is.
       */
      kind: "circuit.opened" | "circuit.closed";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The agent that runs the work. */
      agent: string;
      /** Whose calls fail, or answer again. */
      endpoint: string;
      /** How many calls failed in a row. */
      failures?: number | undefined;
      /** Why. */
      reason?: (string | null) | undefined;
    } & {
      [key: string]: unknown;
    };
    PressureNotification: {
      /**
       * What it is.
       */
      kind: "backpressure.warning" | "backpressure.critical" | "backpressure.shed" | "backpressure.cleared";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /**
       * What kind of signal it is.
       * @constant
       */
      type: "backpressure";
      /**
       * How much.
       */
      level: "none" | "warning" | "critical";
      /**
       * Who has too much work.
       */
      scope: "tenant" | "fleet";
      /** How many tasks of the tenant have not ended. */
      queueDepth: number;
      /** The same, by the name that proactive engines know. */
      queue_depth: number;
      /** How long its next task waits, about; null when unknown. */
      estimatedWaitMs: number | null;
      /** The same in seconds. */
      estimated_wait_time: number | null;
      /** For proactive tasks under a warning: how many times slower to send. */
      slowDown: number | null;
      /** The same. */
      slow_down: number | null;
      /** What would help. */
      recommendations: string[];
      /** Tasks refused since the pressure began. */
      shed: {
        /** Where they came from. */
        source: string;
        /** Of their priority. */
        band?: string | undefined;
        /** How many. */
        count: number;
      }[];
    } & {
      [key: string]: unknown;
    };
    FindingNotification: {
      /**
       * What it is.
       */
      kind: "finding.opened" | "finding.resolved";
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** As `GET /v1/attention` has it. */
      finding: {
        /** The same while it lasts; acknowledges it. */
        id: string;
        /**
         * What it is.
         */
        code: "redis.refused" | "redis.version" | "redis.scripts" | "redis.appendonly" | "redis.appendfsync" | "redis.maxmemory-policy" | "redis.disk" | "redis.memory" | "data.foreign" | "data.mixed" | "data.unreadable" | "process.stopped" | "worker.dead" | "worker.clock" | "process.clock" | "chore.failing" | "chore.late" | "configuration.mixed" | "seal.mixed" | "seal.lost" | "zone-data.mixed" | "zone-data.old" | "queue.unserved" | "queue.paused" | "hub.missing" | "daemon.missing" | "alert.failing" | "ends.unfollowed" | "delivery.untaken" | "chat.refused" | "files.apart" | "model.parameters" | "provider.blocked" | "pressure.warning" | "pressure.critical" | "tenant.pressed" | "agent.failing" | "agent.held" | "agent.paused" | "input.held" | "task.held" | "task.waiting" | "delivery.failed" | "endpoint.disabled" | "schedule.paused" | "budget.soft" | "budget.hard";
        /**
         * `critical`: work stands still or is lost; `warning`: it soon may.
         */
        level: "critical" | "warning";
        /** The same for people, with the figures. */
        text: string;
        /** What helps, for people. */
        helps: string;
        /** How many there are of it, at least. */
        count: number;
        /** Since when; since it was found, where no more is known. */
        since: string | null;
        /** The page of the console about it. */
        link: string;
        /** Its id or name, where it is one thing. */
        subject: string | null;
        /** What tasks wait at, as in `why`, where it is about waiting tasks. */
        gate: string | null;
      };
    } & {
      [key: string]: unknown;
    };
    /** For operators of tenant `default`. Kinds about its load have the fields of one of a tenant. */
    FleetNotification: {
      /** What it is. */
      kind: string;
      /**
       * Format: date-time
       * When it happened.
       */
      at: string;
      /** The worker that it is about. */
      worker: string | null;
      /** The queue that it is about. */
      queue: string | null;
      /** Why. */
      reason: string | null;
      /** As `GET /v1/attention` has it. */
      finding?: {
        /** The same while it lasts; acknowledges it. */
        id: string;
        /**
         * What it is.
         */
        code: "redis.refused" | "redis.version" | "redis.scripts" | "redis.appendonly" | "redis.appendfsync" | "redis.maxmemory-policy" | "redis.disk" | "redis.memory" | "data.foreign" | "data.mixed" | "data.unreadable" | "process.stopped" | "worker.dead" | "worker.clock" | "process.clock" | "chore.failing" | "chore.late" | "configuration.mixed" | "seal.mixed" | "seal.lost" | "zone-data.mixed" | "zone-data.old" | "queue.unserved" | "queue.paused" | "hub.missing" | "daemon.missing" | "alert.failing" | "ends.unfollowed" | "delivery.untaken" | "chat.refused" | "files.apart" | "model.parameters" | "provider.blocked" | "pressure.warning" | "pressure.critical" | "tenant.pressed" | "agent.failing" | "agent.held" | "agent.paused" | "input.held" | "task.held" | "task.waiting" | "delivery.failed" | "endpoint.disabled" | "schedule.paused" | "budget.soft" | "budget.hard";
        /**
         * `critical`: work stands still or is lost; `warning`: it soon may.
         */
        level: "critical" | "warning";
        /** The same for people, with the figures. */
        text: string;
        /** What helps, for people. */
        helps: string;
        /** How many there are of it, at least. */
        count: number;
        /** Since when; since it was found, where no more is known. */
        since: string | null;
        /** The page of the console about it. */
        link: string;
        /** Its id or name, where it is one thing. */
        subject: string | null;
        /** What tasks wait at, as in `why`, where it is about waiting tasks. */
        gate: string | null;
      } | undefined;
    } & {
      [key: string]: unknown;
    };
    /** Notifications may be lost; `GET /v1/runs?since=` has the runs. */
    GapEvent: {
      /** Up to where the reader had read. */
      from: string;
      /** The oldest that is kept. */
      oldest: string;
    };
    QueueList: {
      /** In the order of the names of the queues. */
      items: components["schemas"]["Queue"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * Counts of what waits and runs; `completed` and `failed` count kept tickets.
     * @example {
     *       "name": "tasks",
     *       "paused": false,
     *       "carriesTasks": true,
     *       "waiting": 20,
     *       "forSlot": 15,
     *       "held": 1,
     *       "forDaemon": 0,
     *       "parked": 4,
     *       "tickets": 12,
     *       "ready": 3,
     *       "prioritized": 15,
     *       "delayed": 0,
     *       "active": 4,
     *       "completed": 100,
     *       "failed": 1,
     *       "workers": 2,
     *       "slots": 56,
     *       "oldestWaitingAgeMs": 1200
     *     }
     */
    Queue: {
      /**
       * The queue.
       */
      name: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote" | "deliveries" | "replies" | "maintenance" | "ticks";
      /** Whether it starts nothing; what runs goes on. */
      paused: boolean;
      /** Whether tasks are in it; else jobs of the fleet's own, which `GET /v1/now` does not count. */
      carriesTasks: boolean;
      /** All that wait: `forSlot`, `held` and `parked`. The tenants together have as many in `GET /v1/now` and `queue_depth_total`. */
      waiting: number;
      /** Of these, the ones that wait only for a free slot: `tickets` and `ready`. */
      forSlot: number;
      /** Of these, the ones that something holds: no daemon, a closed queue, a budget, a provider, an agent. `why` says what. */
      held: number;
      /** Of the held ones, those for which no daemon that fits is there. */
      forDaemon: number;
      /** Of these, the ones that wait for others or for their time: a lane, a cap, a retry. */
      parked: number;
      /** Of those for a slot, the ones with a job in BullMQ. */
      tickets: number;
      /** Of those for a slot, the ones that wait in the ledger alone. */
      ready: number;
      /** Of these, the ones that wait by priority. */
      prioritized: number;
      /** Tickets that wait for their time. */
      delayed: number;
      /** What workers hold: tasks that slots claimed, with or without a job. No task counts twice. */
      active: number;
      /** Completed tickets from BullMQ that are kept; a task that a free slot took has none. */
      completed: number;
      /** Failed tickets that are kept. */
      failed: number;
      /** Live workers that take from it, by `GET /v1/fleet`. */
      workers: number;
      /** Slots of these workers, which all their queues share; null when unknown. */
      slots: number | null;
      /** How long the oldest has waited that is for a slot or held; null without one. */
      oldestWaitingAgeMs: number | null;
    };
    QueueSwitched: {
      /**
       * The queue.
       */
      name: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote" | "deliveries" | "replies" | "maintenance" | "ticks";
      /** Whether it starts nothing now. */
      paused: boolean;
    };
    /**
     * @example {
     *       "workers": [
     *         {
     *           "id": "worker-7d9f-1-3fa2@v1.4.0",
     *           "host": "worker-7d9f",
     *           "pid": 1,
     *           "version": "0.1.0",
     *           "release": "v1.4.0",
     *           "status": "busy",
     *           "group": "default",
     *           "queues": [
     *             "critical",
     *             "chat",
     *             "tasks",
     *             "maintenance"
     *           ],
     *           "slots": 28,
     *           "running": 3,
     *           "suspects": 0,
     *           "memoryMb": 180,
     *           "cpu": 0.12,
     *           "eventLoopDelayMs": 1.4,
     *           "skewMs": 2,
     *           "stopped": [],
     *           "blocked": {
     *             "count": 0,
     *             "lastAt": null,
     *             "longestMs": 0
     *           },
     *           "startedAt": "2026-05-01T08:00:00.000Z",
     *           "lastBeatAt": "2026-05-01T09:00:00.000Z",
     *           "drainRequestedAt": null
     *         }
     *       ],
     *       "daemons": [],
     *       "hubs": [],
     *       "snapshots": [
     *         {
     *           "at": "2026-05-01T09:00:00.000Z",
     *           "host": "worker-7d9f",
     *           "cpuPercent": 12.5,
     *           "memoryMb": 1800,
     *           "totalMemoryMb": 8000,
     *           "load": 0.4,
     *           "activeWorkers": 2,
     *           "activeHubs": 1,
     *           "running": 5,
     *           "lanesHeld": 5,
     *           "sessions": 3
     *         }
     *       ]
     *     }
     */
    Fleet: {
      /** The last heartbeat first, dead ones at the end. Empty for other tenants. */
      workers: components["schemas"]["Worker"][];
      /** Connected ones first, then the last beat first, at most `fleet.maxDaemons`: all for the tenant `default`, else those of the tenant. */
      daemons: components["schemas"]["FleetDaemon"][];
      /** As `workers`, and empty for other tenants. */
      hubs: components["schemas"]["Hub"][];
      /** Newest first, at most `fleet.maxSnapshots`. Empty for other tenants. */
      snapshots: components["schemas"]["Snapshot"][];
    };
    /**
     * A worker: what it runs now, and the rest as of its last heartbeat.
     * @example {
     *       "id": "worker-7d9f-1-3fa2@v1.4.0",
     *       "host": "worker-7d9f",
     *       "pid": 1,
     *       "version": "0.1.0",
     *       "release": "v1.4.0",
     *       "status": "busy",
     *       "group": "default",
     *       "queues": [
     *         "critical",
     *         "chat",
     *         "tasks",
     *         "maintenance"
     *       ],
     *       "slots": 28,
     *       "running": 3,
     *       "suspects": 0,
     *       "memoryMb": 180,
     *       "cpu": 0.12,
     *       "eventLoopDelayMs": 1.4,
     *       "skewMs": 2,
     *       "stopped": [],
     *       "blocked": {
     *         "count": 0,
     *         "lastAt": null,
     *         "longestMs": 0
     *       },
     *       "startedAt": "2026-05-01T08:00:00.000Z",
     *       "lastBeatAt": "2026-05-01T09:00:00.000Z",
     *       "drainRequestedAt": null
     *     }
     */
    Worker: {
      /** Its name in records and logs: machine, process and a random part. */
      id: string;
      /** The machine, or the pod. */
      host: string;
      /** Its process on that machine. */
      pid: number;
      /** Of Muster; null when its release does not report it. */
      version: string | null;
      /** What it runs, by its `MUSTER_RELEASE`; null for an earlier version of Muster. */
      release: string | null;
      /** The workers that it is scaled with, by `MUSTER_WORKER_GROUP`; null for a hub, and null when its release does not report it. */
      group: string | null;
      /**
       * `idle` runs nothing now, `busy` something; `draining` takes nothing more; `dead` missed its heartbeats; `alive` does not report what it runs.
       */
      status: "alive" | "idle" | "busy" | "draining" | "dead";
      /** What it serves. */
      queues: string[];
      /** Attempts that it may run at once, over all queues; null when its release does not report it. */
      slots: number | null;
      /** Attempts that it runs now, by their leases; null when its release does not report it. */
      running: number | null;
      /** Of these, tasks that were lost with another worker and run isolated. */
      suspects: number;
      /** Resident memory of its process in MiB; null when its release does not report it. */
      memoryMb: number | null;
      /** Cores that its process used since the heartbeat before; null when its release does not report it. */
      cpu: number | null;
      /** 99th percentile since the heartbeat before; null when its release does not report it. */
      eventLoopDelayMs: number | null;
      /** Its wall clock minus Redis's; negative when it is behind. */
      skewMs: number;
      /** What does not move in it although it should, as in its `/readyz`. */
      stopped: string[];
      /** Blocks of at least `worker.blockedMs`. */
      blocked: {
        /** Blocks of its event loop since it started. */
        count: number;
        /** When the last one ended. */
        lastAt: string | null;
        /** The longest one. */
        longestMs: number;
      };
      /** By its own clock; null when its release does not report it. */
      startedAt: string | null;
      /**
       * Format: date-time
       * Its last heartbeat, by Redis's clock.
       */
      lastBeatAt: string;
      /** When an operator requested its drain. */
      drainRequestedAt: string | null;
    };
    /** A daemon that is, or was, connected. */
    FleetDaemon: {
      /** As in `/v1/daemons`. */
      id: string;
      /** Whose it is. */
      tenant: string;
      /** What people call it. */
      name: string;
      /** Only tasks of this user of the tenant reach it; null for tasks of all. */
      user: string | null;
      /**
       * `online` has a free slot, `busy` has none; `draining` takes nothing more; `offline` is not connected.
       */
      status: "online" | "busy" | "draining" | "offline";
      /** Attempts that it runs. */
      running: number;
      /** How busy its machine is, 0 to 1; null when it has not said so. */
      load: number | null;
      /** Its last beat, by Redis's clock; null when it never connected. */
      lastBeatAt: string | null;
      /** When it connected; null while it is offline. */
      connectedAt: string | null;
      /** The hub that holds its connection; null while it is offline. */
      hub: string | null;
      /** Its machine; null when it has not said so. */
      host: string | null;
      /** Of its program; null when it has not said so. */
      version: string | null;
      /** Memory that it has for tasks, MiB; null when it has not said so. */
      memoryMb: number | null;
      /** The tasks that it runs. */
      tasks: string[];
      /** What it offered when it connected last, as far as its registration allows; null when it never did. */
      offers: {
        /** What it declares and may. */
        capabilities: string[];
        /** Tasks that it runs at once. */
        slots: number;
        /** Agents whose tasks it runs; null for any. */
        agents: string[] | null;
      } | null;
    };
    /**
     * A hub: what it runs now, and the rest as of its last heartbeat.
     * @example {
     *       "id": "worker-7d9f-1-3fa2@v1.4.0",
     *       "host": "worker-7d9f",
     *       "pid": 1,
     *       "version": "0.1.0",
     *       "release": "v1.4.0",
     *       "status": "busy",
     *       "group": "default",
     *       "queues": [
     *         "remote"
     *       ],
     *       "slots": 28,
     *       "running": 3,
     *       "suspects": 0,
     *       "memoryMb": 180,
     *       "cpu": 0.12,
     *       "eventLoopDelayMs": 1.4,
     *       "skewMs": 2,
     *       "stopped": [],
     *       "blocked": {
     *         "count": 0,
     *         "lastAt": null,
     *         "longestMs": 0
     *       },
     *       "startedAt": "2026-05-01T08:00:00.000Z",
     *       "lastBeatAt": "2026-05-01T09:00:00.000Z",
     *       "drainRequestedAt": null,
     *       "daemons": 12
     *     }
     */
    Hub: {
      /** Its name in records and logs: machine, process and a random part. */
      id: string;
      /** The machine, or the pod. */
      host: string;
      /** Its process on that machine. */
      pid: number;
      /** Of Muster; null when its release does not report it. */
      version: string | null;
      /** What it runs, by its `MUSTER_RELEASE`; null for an earlier version of Muster. */
      release: string | null;
      /** The workers that it is scaled with, by `MUSTER_WORKER_GROUP`; null for a hub, and null when its release does not report it. */
      group: string | null;
      /**
       * `idle` runs nothing now, `busy` something; `draining` takes nothing more; `dead` missed its heartbeats; `alive` does not report what it runs.
       */
      status: "alive" | "idle" | "busy" | "draining" | "dead";
      /** What it serves. */
      queues: string[];
      /** Attempts that it may run at once, over all queues; null when its release does not report it. */
      slots: number | null;
      /** Attempts that it runs now, by their leases; null when its release does not report it. */
      running: number | null;
      /** Of these, tasks that were lost with another worker and run isolated. */
      suspects: number;
      /** Resident memory of its process in MiB; null when its release does not report it. */
      memoryMb: number | null;
      /** Cores that its process used since the heartbeat before; null when its release does not report it. */
      cpu: number | null;
      /** 99th percentile since the heartbeat before; null when its release does not report it. */
      eventLoopDelayMs: number | null;
      /** Its wall clock minus Redis's; negative when it is behind. */
      skewMs: number;
      /** What does not move in it although it should, as in its `/readyz`. */
      stopped: string[];
      /** Blocks of at least `worker.blockedMs`. */
      blocked: {
        /** Blocks of its event loop since it started. */
        count: number;
        /** When the last one ended. */
        lastAt: string | null;
        /** The longest one. */
        longestMs: number;
      };
      /** By its own clock; null when its release does not report it. */
      startedAt: string | null;
      /**
       * Format: date-time
       * Its last heartbeat, by Redis's clock.
       */
      lastBeatAt: string;
      /** When an operator requested its drain. */
      drainRequestedAt: string | null;
      /** Daemons that are connected to it. */
      daemons: number;
    };
    /**
     * A machine of the fleet, and what the fleet ran, every `fleet.snapshotMs`.
     * @example {
     *       "at": "2026-05-01T09:00:00.000Z",
     *       "host": "worker-7d9f",
     *       "cpuPercent": 12.5,
     *       "memoryMb": 1800,
     *       "totalMemoryMb": 8000,
     *       "load": 0.4,
     *       "activeWorkers": 2,
     *       "activeHubs": 1,
     *       "running": 5,
     *       "lanesHeld": 5,
     *       "sessions": 3
     *     }
     */
    Snapshot: {
      /**
       * Format: date-time
       * When it was taken, by Redis's clock.
       */
      at: string;
      /** The machine of the figures of CPU, memory and load. */
      host: string;
      /** Use of all cores since the snapshot before, 0 to 100. */
      cpuPercent: number;
      /** Memory in use, MiB. */
      memoryMb: number;
      /** Memory in all, MiB. */
      totalMemoryMb: number;
      /** Processes that ran or waited for a core, over one minute. */
      load: number;
      /** Workers that were not dead. */
      activeWorkers: number;
      /** Hubs, which serve daemons, that were not dead; the API is one where it has the hub. */
      activeHubs: number;
      /** Attempts that ran. */
      running: number;
      /** Lanes that running tasks held. */
      lanesHeld: number;
      /** Of these, the lanes of sessions. */
      sessions: number;
    };
    /**
     * @example {
     *       "group": "default",
     *       "runnable": 40,
     *       "busy": 28,
     *       "slots": 28,
     *       "desired": 3
     *     }
     */
    Scaling: {
      /** The group, as `MUSTER_WORKER_GROUP` of its workers names it. */
      group: string;
      /** Tasks of its queues that wait for nothing but a slot: what limits, lanes and budgets hold back does not count. */
      runnable: number;
      /** Attempts that its workers run. */
      busy: number;
      /** Attempts that its live workers may run. */
      slots: number;
      /** Workers that it takes to run all of these at once; 0 for nothing to do. */
      desired: number;
    };
    AlertRules: {
      /** As in the configuration. */
      items: components["schemas"]["AlertRule"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    AlertRule: {
      /** Of the configuration. */
      name: string;
      /**
       * What receives its alerts.
       */
      to: "slack" | "webhook" | "email" | "alertmanager";
      /**
       * The least that is sent.
       */
      severity: "info" | "warning" | "critical";
      /** The only tenants that it is about; null for the installation and all. */
      tenants: string[] | null;
      /** What is found and not acknowledged before it was sent, and what was sent as firing and not as resolved yet: as it reads now, the worst and newest first. */
      firing: components["schemas"]["FiringAlert"][];
      /** When its receiver last took what fires; null for never. */
      firingSentAt: string | null;
      /** When its receiver last took what was resolved; null for never. */
      resolvedSentAt: string | null;
      /** Why its receiver takes nothing; null while it does. It is tried again, after 5 s up to 5 minutes. */
      failure: {
        /**
         * Format: date-time
         * When the last try failed.
         */
        at: string;
        /** Tries in a row that failed. */
        times: number;
        /** Why the last one did. */
        why: string;
      } | null;
    };
    FiringAlert: {
      /** The same for `firing` and `resolved`. */
      id: string;
      /**
       * Whether it is so, or over.
       */
      status: "firing" | "resolved";
      /**
       * `critical`: work stands still or is lost.
       */
      severity: "info" | "warning" | "critical";
      /** The code of the finding. */
      kind: string;
      /** Whose it is; null for the installation. */
      tenant: string | null;
      /** What was found, in a sentence. */
      summary: string;
      /** What helps, for people. */
      helps: string;
      /**
       * Format: date-time
       * Since when.
       */
      since: string;
      /**
       * What became of what was found. `resolved`: it is over, which the receiver has not taken yet.
       */
      finding: "open" | "acknowledged" | "resolved";
      /** Whether the receiver took it as firing. If not, `failure` of the rule says why. */
      isSent: boolean;
    };
    /**
     * @example {
     *       "id": "alert_0c6b21f3a2c94e7d1f5b8a60",
     *       "status": "firing",
     *       "severity": "critical",
     *       "kind": "queue.unserved",
     *       "tenant": null,
     *       "summary": "No worker serves the queue \"chat\", in which 3 tasks wait",
     *       "helps": "Start a worker that serves it.",
     *       "since": "2026-05-01T09:00:00.000Z"
     *     }
     */
    Alert: {
      /** The same for `firing` and `resolved`. */
      id: string;
      /**
       * Whether it is so, or over.
       */
      status: "firing" | "resolved";
      /**
       * `critical`: work stands still or is lost.
       */
      severity: "info" | "warning" | "critical";
      /** The code of the finding. */
      kind: string;
      /** Whose it is; null for the installation. */
      tenant: string | null;
      /** What was found, in a sentence. */
      summary: string;
      /** What helps, for people. */
      helps: string;
      /**
       * Format: date-time
       * Since when.
       */
      since: string;
    };
    /**
     * @example {
     *       "id": "person_5b1c9e2f70aa4d31",
     *       "name": "Ann Example",
     *       "email": "ann@example.com",
     *       "roles": [
     *         {
     *           "tenant": "acme",
     *           "scopes": [
     *             "operate"
     *           ]
     *         }
     *       ],
     *       "disabled": false,
     *       "firstSignInAt": "2026-05-01T09:00:00.000Z",
     *       "lastSignInAt": "2026-05-04T07:30:00.000Z"
     *     }
     */
    Person: {
      /** The same for the same person at the same provider. */
      id: string;
      /** As the provider gives it. */
      name: string;
      /** As the provider gives it. */
      email: string | null;
      /** What the last sign-in gave: for keys of `default` in all tenants, else in your own. */
      roles: components["schemas"]["PersonRole"][];
      /** Whether the person may not act in your tenant, or anywhere for keys of `default`. */
      disabled: boolean;
      /**
       * Format: date-time
       * The first sign-in that is remembered.
       */
      firstSignInAt: string;
      /**
       * Format: date-time
       * The last one.
       */
      lastSignInAt: string;
    };
    PersonRole: {
      /** Where the role counts. */
      tenant: string;
      /** What the person may do there. */
      scopes: ("admin" | "operate" | "journal" | "submit" | "answer" | "read" | "scaling" | "visit")[];
    };
    /**
     * @example {
     *       "id": "dmn_0196a1b2c3d49f8e7d6c",
     *       "name": "laptop",
     *       "user": null,
     *       "capabilities": null,
     *       "slots": null,
     *       "agents": null,
     *       "enabled": true,
     *       "createdAt": "2026-05-01T08:00:00.000Z",
     *       "status": "online",
     *       "running": 1,
     *       "load": 0.2,
     *       "lastBeatAt": "2026-05-01T09:00:00.000Z",
     *       "connectedAt": "2026-05-01T08:10:00.000Z",
     *       "hub": "hub-7d9f-1-3fa2",
     *       "host": "adas-laptop",
     *       "version": "0.1.0",
     *       "memoryMb": 9200,
     *       "tasks": [
     *         "0196a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
     *       ],
     *       "offers": {
     *         "capabilities": [
     *           "browser",
     *           "code"
     *         ],
     *         "slots": 3,
     *         "agents": null
     *       },
     *       "token": "md_..."
     *     }
     */
    DaemonWithToken: {
      /** Names it in addresses and records. */
      id: string;
      /** For people and for `requirements.targetDaemon`; unique in the tenant. */
      name: string;
      /** Only tasks of this user of the tenant reach it; null for tasks of all. */
      user: string | null;
      /** What it may declare; null for whatever it declares. */
      capabilities: string[] | null;
      /** Tasks that it may run at once; null for as many as it declares. At most `hub.maxSlotsPerDaemon`. */
      slots: number | null;
      /** Agents whose tasks it may run; null for any. */
      agents: string[] | null;
      /** Whether its token opens anything. */
      enabled: boolean;
      /**
       * Format: date-time
       * When it was registered.
       */
      createdAt: string;
      /**
       * `online` has a free slot, `busy` has none; `draining` takes nothing more; `offline` is not connected.
       */
      status: "online" | "busy" | "draining" | "offline";
      /** Attempts that it runs. */
      running: number;
      /** How busy its machine is, 0 to 1; null when it has not said so. */
      load: number | null;
      /** Its last beat, by Redis's clock; null when it never connected. */
      lastBeatAt: string | null;
      /** When it connected; null while it is offline. */
      connectedAt: string | null;
      /** The hub that holds its connection; null while it is offline. */
      hub: string | null;
      /** Its machine; null when it has not said so. */
      host: string | null;
      /** Of its program; null when it has not said so. */
      version: string | null;
      /** Memory that it has for tasks, MiB; null when it has not said so. */
      memoryMb: number | null;
      /** The tasks that it runs. */
      tasks: string[];
      /** What it offered when it connected last, as far as its registration allows; null when it never did. */
      offers: {
        /** What it declares and may. */
        capabilities: string[];
        /** Tasks that it runs at once. */
        slots: number;
        /** Agents whose tasks it runs; null for any. */
        agents: string[] | null;
      } | null;
      /** What the daemon connects with. It cannot be read again. */
      token: string;
    };
    DaemonList: {
      /** By name. */
      items: components["schemas"]["Daemon"][];
      /** Null: this list has one page. */
      nextCursor: null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    /**
     * A registered daemon, with what its hub knows of it.
     * @example {
     *       "id": "dmn_0196a1b2c3d49f8e7d6c",
     *       "name": "laptop",
     *       "user": null,
     *       "capabilities": null,
     *       "slots": null,
     *       "agents": null,
     *       "enabled": true,
     *       "createdAt": "2026-05-01T08:00:00.000Z",
     *       "status": "online",
     *       "running": 1,
     *       "load": 0.2,
     *       "lastBeatAt": "2026-05-01T09:00:00.000Z",
     *       "connectedAt": "2026-05-01T08:10:00.000Z",
     *       "hub": "hub-7d9f-1-3fa2",
     *       "host": "adas-laptop",
     *       "version": "0.1.0",
     *       "memoryMb": 9200,
     *       "tasks": [
     *         "0196a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
     *       ],
     *       "offers": {
     *         "capabilities": [
     *           "browser",
     *           "code"
     *         ],
     *         "slots": 3,
     *         "agents": null
     *       }
     *     }
     */
    Daemon: {
      /** Names it in addresses and records. */
      id: string;
      /** For people and for `requirements.targetDaemon`; unique in the tenant. */
      name: string;
      /** Only tasks of this user of the tenant reach it; null for tasks of all. */
      user: string | null;
      /** What it may declare; null for whatever it declares. */
      capabilities: string[] | null;
      /** Tasks that it may run at once; null for as many as it declares. At most `hub.maxSlotsPerDaemon`. */
      slots: number | null;
      /** Agents whose tasks it may run; null for any. */
      agents: string[] | null;
      /** Whether its token opens anything. */
      enabled: boolean;
      /**
       * Format: date-time
       * When it was registered.
       */
      createdAt: string;
      /**
       * `online` has a free slot, `busy` has none; `draining` takes nothing more; `offline` is not connected.
       */
      status: "online" | "busy" | "draining" | "offline";
      /** Attempts that it runs. */
      running: number;
      /** How busy its machine is, 0 to 1; null when it has not said so. */
      load: number | null;
      /** Its last beat, by Redis's clock; null when it never connected. */
      lastBeatAt: string | null;
      /** When it connected; null while it is offline. */
      connectedAt: string | null;
      /** The hub that holds its connection; null while it is offline. */
      hub: string | null;
      /** Its machine; null when it has not said so. */
      host: string | null;
      /** Of its program; null when it has not said so. */
      version: string | null;
      /** Memory that it has for tasks, MiB; null when it has not said so. */
      memoryMb: number | null;
      /** The tasks that it runs. */
      tasks: string[];
      /** What it offered when it connected last, as far as its registration allows; null when it never did. */
      offers: {
        /** What it declares and may. */
        capabilities: string[];
        /** Tasks that it runs at once. */
        slots: number;
        /** Agents whose tasks it runs; null for any. */
        agents: string[] | null;
      } | null;
    };
    Providers: {
      /** The last called first. */
      items: components["schemas"]["Provider"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * What a model of a provider account may be called, and is.
     * @example {
     *       "id": "w5yZ2a0Vx1k9QbTn",
     *       "account": "openai",
     *       "model": "gpt-5",
     *       "endpoint": "https://api.openai.com",
     *       "requestsPerMinute": 500,
     *       "tokensPerMinute": 200000,
     *       "concurrent": null,
     *       "learned": false,
     *       "requests": 412,
     *       "tokens": 151900,
     *       "running": 9,
     *       "waitingTenants": 2,
     *       "block": null,
     *       "lastCallAt": "2026-05-01T09:00:00.000Z"
     *     }
     */
    Provider: {
      /** Its id: accounts with other keys at the same host have others. */
      id: string;
      /** The name of the provider in the configuration, else the host that is called. */
      account: string;
      /** The model. */
      model: string;
      /** The origin of its address. */
      endpoint: string;
      /** Calls per minute that are allowed; null when unknown. */
      requestsPerMinute: number | null;
      /** Tokens per minute that are allowed; null when unknown. */
      tokensPerMinute: number | null;
      /** Calls at once that are allowed; null when unknown. */
      concurrent: number | null;
      /** Whether the limits come from answers only. */
      learned: boolean;
      /** Calls of the last minute. */
      requests: number;
      /** Tokens of the last minute, with those booked for calls under way. */
      tokens: number;
      /** Calls under way. */
      running: number;
      /** Tenants with tasks that wait for it, by range of priority. */
      waitingTenants: number;
      /** Why no calls go; null while they go. */
      block: {
        /**
         * A cool-down ends with its time, a wall when a call gets past it.
         */
        kind: "cooldown" | "wall";
        /**
         * What the error named.
         */
        scope: "model" | "account" | "endpoint";
        /** The code of the provider, or the status. */
        reason: string;
        /**
         * Format: date-time
         * Since when.
         */
        since: string;
        /**
         * Format: date-time
         * Until when; of a wall, when one call tries again.
         */
        until: string;
        /** The call that tries now, or the tenant whose task does; null for none. */
        probe: string | null;
      } | null;
      /**
       * Format: date-time
       * The last call that was to go.
       */
      lastCallAt: string;
    };
    /**
     * Means, quantiles and rates are of the last `metrics.windowMs`, a quarter of an hour; 0 without a task.
     * @example {
     *       "queue_depth_total": 12,
     *       "queue_depth_by_priority": {
     *         "critical": 0,
     *         "high": 1,
     *         "normal": 9,
     *         "low": 2
     *       },
     *       "queue_depth_by_source": {
     *         "chat": 1,
     *         "api": 9,
     *         "proactive": 0,
     *         "webhook": 2,
     *         "schedule": 0,
     *         "delegation": 0
     *       },
     *       "tasks_enqueued_per_minute": 60,
     *       "tasks_completed_per_minute": 58,
     *       "tasks_failed_per_minute": 1,
     *       "avg_queue_wait_time_ms": 240,
     *       "avg_execution_time_ms": 8100,
     *       "p99_queue_wait_time_ms": 1900,
     *       "p99_execution_time_ms": 29000,
     *       "daemons_online": 2,
     *       "daemons_busy": 2,
     *       "total_daemon_capacity": 56,
     *       "used_daemon_capacity": 8,
     *       "retry_rate": 0.02,
     *       "failure_rate": 0.01,
     *       "timeout_rate": 0.001
     *     }
     */
    QueueMetrics: {
      /** Tasks that wait: accepted, not ended, not running. */
      queue_depth_total: number;
      /** The same by priority: `critical` is that queue, `high` 8 and more, `low` 2 and less. */
      queue_depth_by_priority: {
        [key: string]: number;
      };
      /** The same by source. */
      queue_depth_by_source: {
        [key: string]: number;
      };
      /** Tasks accepted in the last minute. */
      tasks_enqueued_per_minute: number;
      /** Tasks completed in the last minute. */
      tasks_completed_per_minute: number;
      /** Tasks that failed for good in the last minute. */
      tasks_failed_per_minute: number;
      /** From acceptance, or the time a task was for, to its first attempt; the mean. */
      avg_queue_wait_time_ms: number;
      /** Of attempts that completed, failed or took too long; the mean. */
      avg_execution_time_ms: number;
      /** The wait that 99 of 100 tasks do not exceed, to the precision of buckets, and at most the longest. */
      p99_queue_wait_time_ms: number;
      /** The same of attempts. */
      p99_execution_time_ms: number;
      /** Workers, and daemons, that take work now. */
      daemons_online: number;
      /** Of these, those that run a task. */
      daemons_busy: number;
      /** Tasks that they can run at once; of a tenant, no more than its limit. */
      total_daemon_capacity: number;
      /** Tasks that run. */
      used_daemon_capacity: number;
      /** The share of attempts that another one follows because they failed. */
      retry_rate: number;
      /** Of the tasks that completed or failed for good, the share of the latter. */
      failure_rate: number;
      /** The share of attempts that took too long. */
      timeout_rate: number;
    };
    MetricsHistory: {
      /** Oldest first; the last one is the minute that runs. */
      items: components["schemas"]["MinuteMetrics"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "at": "2026-05-01T09:00:00.000Z",
     *       "accepted": 61,
     *       "completed": 58,
     *       "failed": 1,
     *       "retried": 2,
     *       "waitP50Ms": 18,
     *       "waitP95Ms": 210,
     *       "runP50Ms": 2400,
     *       "runP95Ms": 8100,
     *       "costMicroUsd": 48000,
     *       "running": 6,
     *       "waiting": 14,
     *       "slots": 28,
     *       "queues": [
     *         {
     *           "name": "tasks",
     *           "waiting": 14,
     *           "oldestMs": 900
     *         }
     *       ]
     *     }
     */
    MinuteMetrics: {
      /**
       * Format: date-time
       * When the minute began.
       */
      at: string;
      /** Tasks accepted. */
      accepted: number;
      /** Tasks completed. */
      completed: number;
      /** Tasks that failed for good. */
      failed: number;
      /** Failed attempts that another one follows. */
      retried: number;
      /** The wait before the first attempt that half of the tasks did not exceed; null where there was none. */
      waitP50Ms: number | null;
      /** The wait that 95 of 100 tasks did not exceed; null where there was none. */
      waitP95Ms: number | null;
      /** The time that half of the attempts did not exceed; null where there was none. */
      runP50Ms: number | null;
      /** The time that 95 of 100 attempts did not exceed; null where there was none. */
      runP95Ms: number | null;
      /** What the attempts that ended cost, in millionths of a US dollar. */
      costMicroUsd: number;
      /** Tasks that ran, at most; null where nothing measured it. */
      running: number | null;
      /** Tasks that waited, at most; null where nothing measured it. */
      waiting: number | null;
      /** Slots of the workers, at most; of the fleet only; null where nothing measured it. */
      slots: number | null;
      /** Of the fleet only. */
      queues: {
        /**
         * The queue.
         */
        name: "critical" | "chat" | "webhooks" | "schedules" | "tasks" | "background" | "remote";
        /** Tickets that waited, at most. */
        waiting: number;
        /** How long the first of them had waited, at most; null where there was none. */
        oldestMs: number | null;
      }[];
    };
    AgentMetricsList: {
      /** By name; agents without an attempt in the window are left out. */
      items: components["schemas"]["AgentMetrics"][];
      /** Null: this list has one page. */
      nextCursor: null;
      /** How long the window is: what was asked for, or what is kept. */
      hours: number;
      /**
       * Format: date-time
       * When the window begins: at a full hour.
       */
      since: string;
    };
    /**
     * @example {
     *       "agent": "research",
     *       "attempts": 212,
     *       "completed": 190,
     *       "failed": 10,
     *       "retried": 12,
     *       "failureRate": 0.05,
     *       "runP50Ms": 2400,
     *       "runP95Ms": 8100,
     *       "costMicroUsd": 480000,
     *       "lastAt": "2026-05-01T09:00:00.000Z"
     *     }
     */
    AgentMetrics: {
      /** The agent. */
      agent: string;
      /** Attempts that ended. */
      attempts: number;
      /** Tasks that completed. */
      completed: number;
      /** Tasks whose last attempt failed for good. */
      failed: number;
      /** Failed attempts that another one follows. */
      retried: number;
      /** `failed` of these and `completed`; null where there was none. */
      failureRate: number | null;
      /** The time that half of the attempts did not exceed; null where none ran. */
      runP50Ms: number | null;
      /** The time that 95 of 100 attempts did not exceed; null where none ran. */
      runP95Ms: number | null;
      /** What these attempts cost, in millionths of a US dollar. */
      costMicroUsd: number;
      /**
       * Format: date-time
       * When the last of them ended, within seconds.
       */
      lastAt: string;
    };
    AttentionList: {
      /** Critical ones first. */
      items: components["schemas"]["Attention"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "id": "queue.unserved:chat",
     *       "code": "queue.unserved",
     *       "level": "critical",
     *       "scope": "fleet",
     *       "text": "Tasks wait in the queue \"chat\", and no worker serves it.",
     *       "helps": "Start a worker that serves it.",
     *       "count": 1,
     *       "since": "2026-05-01T09:00:00.000Z",
     *       "link": "/queues",
     *       "subject": "chat",
     *       "gate": null,
     *       "acknowledged": null
     *     }
     */
    Attention: {
      /** The same while it lasts; acknowledges it. */
      id: string;
      /**
       * What it is.
       */
      code: "redis.refused" | "redis.version" | "redis.scripts" | "redis.appendonly" | "redis.appendfsync" | "redis.maxmemory-policy" | "redis.disk" | "redis.memory" | "data.foreign" | "data.mixed" | "data.unreadable" | "process.stopped" | "worker.dead" | "worker.clock" | "process.clock" | "chore.failing" | "chore.late" | "configuration.mixed" | "seal.mixed" | "seal.lost" | "zone-data.mixed" | "zone-data.old" | "queue.unserved" | "queue.paused" | "hub.missing" | "daemon.missing" | "alert.failing" | "ends.unfollowed" | "delivery.untaken" | "chat.refused" | "files.apart" | "model.parameters" | "provider.blocked" | "pressure.warning" | "pressure.critical" | "tenant.pressed" | "agent.failing" | "agent.held" | "agent.paused" | "input.held" | "task.held" | "task.waiting" | "delivery.failed" | "endpoint.disabled" | "schedule.paused" | "budget.soft" | "budget.hard";
      /**
       * `critical`: work stands still or is lost; `warning`: it soon may.
       */
      level: "critical" | "warning";
      /**
       * Whose it is: of the installation, or of the tenant.
       */
      scope: "fleet" | "tenant";
      /** The same for people, with the figures. */
      text: string;
      /** What helps, for people. */
      helps: string;
      /** How many there are of it, at least. */
      count: number;
      /** Since when; since it was found, where no more is known. */
      since: string | null;
      /** The page of the console about it. */
      link: string;
      /** Its id or name, where it is one thing. */
      subject: string | null;
      /** What tasks wait at, as in `why`, where it is about waiting tasks. */
      gate: string | null;
      /** Who knows of it: it is listed no more, unless it becomes worse. */
      acknowledged: {
        /**
         * Format: date-time
         * When.
         */
        at: string;
        /** The id of the key. */
        by: string | null;
      } | null;
    };
    Now: {
      /** Newest first. */
      running: {
        /** Of the task. */
        id: string;
        /** The agent that runs the work. */
        agent: string;
        /**
         * Where it came from.
         */
        source: "chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation";
        /** The conversation in which it is a turn. */
        session: string | null;
        /** The beginning of its input. */
        input: string;
        /** Number of its attempt. */
        attempt: number;
        /** The worker that holds it. */
        worker: string | null;
        /** When its current attempt began. */
        startedAt: string | null;
        /** How long attempts of its agent hold a slot, the mean; null when unknown. */
        usualMs: number | null;
        /** What it reported last; null for nothing. */
        progress: {
          /** In words. */
          note: string | null;
          /** From 0 to 100. */
          percent: number | null;
        } | null;
        /** The last line of what it has written, up to 200 characters. */
        lastLine: string | null;
      }[];
      /** How many run. */
      runningTotal: number;
      /** By gate, the most tasks first. */
      waiting: {
        /** What they wait at, as in `why`; `queue` when they wait only for a free slot. */
        gate: string;
        /**
         * What they count as in `GET /v1/queues`: `forSlot`, `forDaemon`, `held` or `parked`.
         */
        kind: "slot" | "daemon" | "held" | "parked";
        /** How many. */
        count: number;
        /** How long the first of them has waited there; null where they wait for their time. */
        oldestMs: number | null;
      }[];
      /** What runs ask people. A run that waits for its answer is suspended, and is not among `waiting`. */
      questions: {
        /** How many wait for an answer. */
        open: number;
        /** When the oldest of them was asked; null for none. */
        oldestAt: string | null;
      };
    };
    /**
     * @example {
     *       "id": "acme",
     *       "name": "Acme Ltd",
     *       "disabled": false,
     *       "limits": null,
     *       "createdAt": "2026-05-01T09:00:00.000Z"
     *     }
     */
    Tenant: {
      /** The name in addresses and headers. */
      id: string;
      /** For people. */
      name: string;
      /** Whether its keys open nothing and its work waits. */
      disabled: boolean;
      /** Null takes those of the configuration. */
      limits: components["schemas"]["TenantLimitsOutput"] | null;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
    };
    TenantList: {
      /** By id. */
      items: components["schemas"]["Tenant"][];
      /** Null: this list has one page. */
      nextCursor: null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    /**
     * @example {
     *       "id": "acme",
     *       "name": "Acme Ltd",
     *       "disabled": false,
     *       "limits": null,
     *       "createdAt": "2026-05-01T09:00:00.000Z",
     *       "effectiveLimits": null,
     *       "storedBytes": 48211,
     *       "maxStoredBytes": null
     *     }
     */
    TenantWithSize: {
      /** The name in addresses and headers. */
      id: string;
      /** For people. */
      name: string;
      /** Whether its keys open nothing and its work waits. */
      disabled: boolean;
      /** Null takes those of the configuration. */
      limits: components["schemas"]["TenantLimitsOutput"] | null;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
      /** About how many bytes of Redis's memory it takes. */
      storedBytes: number;
      /** The limits that hold now, the configuration's included; null for none. */
      effectiveLimits: components["schemas"]["TenantLimitsOutput"] | null;
      /** Its limit `storedBytes`; null for none. */
      maxStoredBytes: number | null;
    };
    /**
     * @example {
     *       "sentence": "With these limits, 12 of the last day's 240 tasks would have waited, the longest 4.2 s, and none would have been refused.",
     *       "tasks": 240,
     *       "wouldHaveWaited": 12,
     *       "wouldHaveBeenRefused": 0,
     *       "longestMs": 4200,
     *       "byLimit": [
     *         {
     *           "limit": "running",
     *           "waited": 12,
     *           "refused": 0,
     *           "longestMs": 4200
     *         }
     *       ],
     *       "since": "2026-05-01T09:00:00.000Z"
     *     }
     */
    LimitsPreview: {
      /** The same for people. */
      sentence: string;
      /** Tasks that ran, of those accepted since `since`. */
      tasks: number;
      /** How many of them would have waited for a limit. */
      wouldHaveWaited: number;
      /** How many of them would not have been accepted. */
      wouldHaveBeenRefused: number;
      /** The longest wait, in milliseconds. */
      longestMs: number;
      /** The limit that most tasks met first. A task may have met several. */
      byLimit: {
        /** Name of the limit, such as `running` or `rates.user`. */
        limit: string;
        /** Tasks that would have waited for it. */
        waited: number;
        /** Tasks that it would have refused. */
        refused: number;
        /** The longest wait of these, or of a rate the longest `Retry-After`, in milliseconds. */
        longestMs: number;
      }[];
      /**
       * Format: date-time
       * A day ago, or when the oldest task that was read was accepted.
       */
      since: string;
    };
    /**
     * @example {
     *       "limits": {
     *         "maxConcurrent": 200,
     *         "runningByClass": {
     *           "proactive": 50
     *         },
     *         "runningLow": null,
     *         "rates": {
     *           "all": {
     *             "perMinute": 500,
     *             "perHour": 10000,
     *             "burst": 500
     *           }
     *         }
     *       },
     *       "configured": {
     *         "maxConcurrent": 1000,
     *         "runningByClass": {},
     *         "runningLow": null,
     *         "rates": {}
     *       },
     *       "origin": "api",
     *       "changedAt": "2026-05-01T09:00:00.000Z",
     *       "changedBy": "k_1",
     *       "running": 12
     *     }
     */
    FleetLimitsView: {
      /** The current limits. */
      limits: components["schemas"]["FleetLimits"];
      /** The limits of the configuration, which hold unless they are changed here. */
      configured: components["schemas"]["FleetLimits"];
      /**
       * Where the current limits come from.
       */
      origin: "config" | "api";
      /** When they were changed here; null when they were not. */
      changedAt: string | null;
      /** Id of the key that changed them. */
      changedBy: string | null;
      /** Attempts that run now. */
      running: number;
    };
    FleetLimits: {
      /** Attempts that run at once in the fleet. */
      maxConcurrent: number;
      /**
       * Grants at once per source class, over all tenants.
       * @default {}
       */
      runningByClass: {
        [key: string]: number;
      };
      /**
       * Grants at once for tasks of priority 1, over all tenants; null for no limit.
       * @default null
       */
      runningLow: number | null;
      /**
       * Tasks accepted per source class, and in all, over all tenants.
       * @default {}
       */
      rates: {
        [key: string]: {
          /**
           * How many in a minute.
           * @default 60
           */
          perMinute: number;
          /**
           * How many in an hour.
           * @default 1000
           */
          perHour: number;
          /** How many may come at once before the rate counts. */
          burst?: number | undefined;
        };
      };
    };
    /**
     * @example {
     *       "id": "key_3f9c2a",
     *       "tenant": "acme",
     *       "name": "ci",
     *       "scopes": [
     *         "submit"
     *       ],
     *       "createdAt": "2026-05-01T09:00:00.000Z",
     *       "secret": "mk_..."
     *     }
     */
    NewKey: {
      /** Names the key; it opens nothing. */
      id: string;
      /** Whose key it is. */
      tenant: string;
      /** For people. */
      name: string;
      /** What it may; each scope includes those below it, but `submit` does not include `answer`. */
      scopes: ("admin" | "operate" | "journal" | "submit" | "answer" | "read" | "scaling" | "visit")[];
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
      /** What requests carry. It cannot be read again. */
      secret: string;
    };
    KeyList: {
      /** Oldest first. */
      items: components["schemas"]["Key"][];
      /** Null: this list has one page. */
      nextCursor: null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    /**
     * @example {
     *       "id": "key_3f9c2a",
     *       "tenant": "acme",
     *       "name": "ci",
     *       "scopes": [
     *         "submit"
     *       ],
     *       "createdAt": "2026-05-01T09:00:00.000Z"
     *     }
     */
    Key: {
      /** Names the key; it opens nothing. */
      id: string;
      /** Whose key it is. */
      tenant: string;
      /** For people. */
      name: string;
      /** What it may; each scope includes those below it, but `submit` does not include `answer`. */
      scopes: ("admin" | "operate" | "journal" | "submit" | "answer" | "read" | "scaling" | "visit")[];
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
    };
    /**
     * @example {
     *       "path": "/sign-in/link?token=ml_...",
     *       "expiresAt": "2026-05-01T09:10:00.000Z"
     *     }
     */
    SignInLink: {
      /** Open it in a browser, after the address of the console. It works once. */
      path: string;
      /**
       * Format: date-time
       * Until when it works.
       */
      expiresAt: string;
    };
    CheckList: {
      /** In a fixed order. */
      items: components["schemas"]["Check"][];
      /**
       * Format: date-time
       * When these checks ended.
       */
      checkedAt: string;
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "name": "Redis maxmemory-policy",
     *       "state": "ok",
     *       "detail": "noeviction"
     *     }
     */
    Check: {
      /** Of the finding, as in `GET /v1/attention`; absent where nothing was found. */
      id?: string | undefined;
      /** What was checked. */
      name: string;
      /**
       * `warn`: it works with a weaker promise; `fail`: the fleet may lose work; `skip`: it could not be checked.
       */
      state: "ok" | "warn" | "fail" | "skip";
      /** The finding and its remedy, for people. */
      detail: string;
    };
    Configuration: {
      /** Of Muster. */
      version: string;
      /** Of Node. */
      node: string;
      /** The environment first, then the settings by section. */
      items: components["schemas"]["Setting"][];
      /** Null: this list has one page. */
      nextCursor: null;
    };
    /**
     * @example {
     *       "section": "limits",
     *       "name": "limits.maxConcurrent",
     *       "value": 50,
     *       "default": 1000,
     *       "differs": true
     *     }
     */
    Setting: {
      /** `environment`, or the section of `muster.config.ts`. */
      section: string;
      /** The variable, or the path of the setting. */
      name: string;
      /** What holds; secrets and parts of addresses are `[redacted]`, null means not set. */
      value: unknown;
      /** What would hold without it; null when there is no default. */
      default: unknown;
      /** Whether it was set to something else. */
      differs: boolean;
    };
    PersonList: {
      /** By the last sign-in, newest first. */
      items: components["schemas"]["Person"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    AuditList: {
      /** Newest first. A page may be empty and have a cursor, where few entries fit. */
      items: components["schemas"]["AuditEntry"][];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
    /**
     * @example {
     *       "id": "1777626000000-0",
     *       "at": "2026-05-01T09:00:00.000Z",
     *       "actor": {
     *         "kind": "key",
     *         "id": "key_3f9c2a",
     *         "name": "ci",
     *         "tenant": null
     *       },
     *       "via": "cli",
     *       "from": "192.0.2.7",
     *       "action": "cancelTask",
     *       "actionText": "cancelled a task",
     *       "object": "tasks/01KQS1C8ZV0G3P5T7W9X1Y2Z3A",
     *       "fields": [
     *         "reason"
     *       ],
     *       "outcome": "done",
     *       "code": null
     *     }
     */
    AuditEntry: {
      /** Orders the entries of a tenant. */
      id: string;
      /**
       * Format: date-time
       * When it was done.
       */
      at: string;
      actor: components["schemas"]["AuditActor"];
      /**
       * By what.
       */
      via: "api" | "console" | "cli" | "board" | "chat" | "sign-in" | "agent" | "configuration";
      /** The address that it came from, the surface of a chat, or the task of an agent. */
      from: string | null;
      /** The `operationId`, or a name such as `signIn`, `boardRetry`, `chatStop`, `agentSchedule`. */
      action: string;
      /** The same for people, as in `cancelled a task`. */
      actionText: string;
      /** What it was done to, as in the path of the API. */
      object: string | null;
      /** Names of the fields that were sent; their values are not kept. */
      fields: string[];
      /**
       * `refused` by a rule, `failed` by a fault.
       */
      outcome: "done" | "refused" | "failed";
      /** Code of the refusal. */
      code: string | null;
    };
    /** Who. */
    AuditActor: {
      /**
       * An API key, a person of the identity provider, a visitor, a person in a chat, or an agent.
       */
      kind: "key" | "person" | "visitor" | "chat" | "agent" | "configuration";
      /** Of the key, the person, the visitor, of the person at the platform, or of the task of the agent. */
      id: string;
      /** For people. */
      name: string;
      /** The actor's own tenant, where it acted for this one; else null. */
      tenant: string | null;
    };
    /** The task, or the event, of the same delivery that came before; or the answer to the sender's handshake, as JSON, text, or a header. */
    WebhookRepeated: components["schemas"]["WebhookTaken"] | components["schemas"]["HandshakeAnswer"];
    WebhookTaken: {
      /** The task; of a hook with `event` the delivery. */
      id: string;
      /** Of the task; null where there is none. */
      status: string | null;
      /** How many runs waited for the event, and go on: of a hook with `event`. */
      resumed?: number | undefined;
      /**
       * What the delivery is recognized by: the sender's id, what was signed, or nothing.
       */
      identity: "id" | "signed" | "none";
      /** Why it is a repeat, or runs again. */
      reason?: string | undefined;
    };
    /** A sender's check of a new address, in the form that it wants. */
    HandshakeAnswer: {
      [key: string]: string;
    };
    Hook: {
      /** For people. */
      name: string | null;
      /**
       * Who sends, and so how it is signed.
       */
      provider: "github" | "gitlab" | "stripe" | "slack" | "standard" | "hmac" | "none";
      /** How the provider signs, where it leaves a choice. */
      options: ({
        /** Header that holds the signature. */
        header: string;
        /**
         * The hash of the signature.
         * @default sha256
         */
        algorithm: "sha1" | "sha256" | "sha512";
        /**
         * How the signature is written.
         * @default hex
         */
        encoding: "hex" | "base64";
        /**
         * What stands before the signature in its header.
         * @default
         */
        prefix: string;
        /** Header that holds the time of sending. */
        timestampHeader?: string | undefined;
        /**
         * Unit of that time.
         * @default s
         */
        timestampUnit: "s" | "ms" | "iso";
        /**
         * How old a signature may be, in milliseconds.
         * @default 300000
         */
        toleranceMs: number;
        /** What is signed, of `{body}`, `{timestamp}` and `{id}`. */
        signedContent?: string | undefined;
        /**
         * Whether the secret is text, or bytes in base64 (also after `whsec_`) or hex.
         * @default text
         */
        secretEncoding: "text" | "base64" | "hex";
        /**
         * Whether an equal body within the window is the same delivery.
         * @default one
         */
        equalBodies: "one" | "each";
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies: "one" | "each";
      } | {
        /**
         * Whether an equal body within the window is the same delivery.
         */
        equalBodies?: ("one" | "each") | undefined;
        /** Header that holds the name of the event. */
        eventHeader?: string | undefined;
        /** Header that holds the id of a delivery. */
        deliveryHeader?: string | undefined;
        /**
         * The sender whose check of the address is answered; without it none is.
         */
        handshake?: ("adobe" | "asana" | "cloud-events" | "dropbox" | "event-grid" | "fitbit" | "intercom" | "lark" | "line" | "linkedin" | "meta" | "microsoft-graph" | "miro" | "monday" | "notion" | "nylas" | "okta" | "oura" | "ringcentral" | "slack" | "smartsheet" | "sns" | "strava" | "trello" | "twitch" | "websub" | "x" | "xero" | "zoom") | undefined;
        /** The word that the sender is given, too, for handshakes that have one. */
        verifyToken?: string | undefined;
      }) | null;
      /** The agent that runs the work. */
      agent: string | null;
      /** Instead of making tasks, sends events of this name to the runs that wait for them, with the payload as data. Null: it makes tasks. */
      event: string | null;
      /** Makes the input of the task from what came. */
      template: string | null;
      /** The conversation in which it is a turn. */
      session: string | null;
      /** From 1 to 10, the most urgent, or its name. */
      priority: ((number | ("low" | "normal" | "high" | "critical")) | {
        [key: string]: number | ("low" | "normal" | "high" | "critical");
      }) | null;
      /** Whether `/schedule` lines of its output are applied. */
      directives: boolean;
      /** Whether it takes webhooks. */
      enabled: boolean;
      /** Names the record. */
      id: string;
      /** Where it takes webhooks. */
      path: string;
      /** Until when a former secret is valid too; null for none. */
      formerSecretUntil: string | null;
      /**
       * Format: date-time
       * When it was made.
       */
      createdAt: string;
      /**
       * Format: date-time
       * When it was changed last.
       */
      updatedAt: string;
    };
    HookList: {
      /** The records of this page. */
      items: components["schemas"]["Hook"][];
      /** For the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    HookDeliveryList: {
      /** The records of this page. */
      items: components["schemas"]["HookDelivery"][];
      /** For the next page; null at the end. */
      nextCursor: string | null;
      /** Records that cannot be read by this version; absent when all can. */
      unreadable?: components["schemas"]["UnreadableRecord"][] | undefined;
    };
    HookDelivery: {
      /** Names the record. */
      id: string;
      /**
       * Format: date-time
       * When it came.
       */
      at: string;
      /**
       * What became of it.
       */
      verdict: "accepted" | "repeated" | "handshake" | "refused";
      /** The code of the refusal; null for none. */
      code: string | null;
      /** Why it was refused, taken for a repeat, or run again, or which event it was sent as, in a sentence; null for none. */
      reason: string | null;
      /**
       * Who sent it: the hook's sender, or a person who tests the hook or replays a delivery.
       */
      origin: "sender" | "test" | "replay";
      /** As the sender names it; null where the proof failed before it was read. */
      event: string | null;
      /** The sender's id of the delivery, or the id that stands in for it. */
      delivery: string | null;
      /**
       * What it is recognized by when it comes again: the sender's id, what was signed, or nothing.
       * @default null
       */
      identity: ("id" | "signed" | "none") | null;
      /** The task that it made, or that the first of its repetitions made. */
      taskId: string | null;
      /** Size of the body as it came; null when it was not read to its end. */
      bytes: number | null;
      /** Whether it can be replayed: its sender was proved, and its payload is kept complete. */
      mayReplay: boolean;
    };
    HookDeliveryDetail: {
      /** Names the record. */
      id: string;
      /**
       * Format: date-time
       * When it came.
       */
      at: string;
      /**
       * What became of it.
       */
      verdict: "accepted" | "repeated" | "handshake" | "refused";
      /** The code of the refusal; null for none. */
      code: string | null;
      /** Why it was refused, taken for a repeat, or run again, or which event it was sent as, in a sentence; null for none. */
      reason: string | null;
      /**
       * Who sent it: the hook's sender, or a person who tests the hook or replays a delivery.
       */
      origin: "sender" | "test" | "replay";
      /** As the sender names it; null where the proof failed before it was read. */
      event: string | null;
      /** The sender's id of the delivery, or the id that stands in for it. */
      delivery: string | null;
      /**
       * What it is recognized by when it comes again: the sender's id, what was signed, or nothing.
       * @default null
       */
      identity: ("id" | "signed" | "none") | null;
      /** The task that it made, or that the first of its repetitions made. */
      taskId: string | null;
      /** Size of the body as it came; null when it was not read to its end. */
      bytes: number | null;
      /** Whether it can be replayed: its sender was proved, and its payload is kept complete. */
      mayReplay: boolean;
      /** JSON of the payload; for a refused proof the body as text. Cut to `webhooks.deliveries.maxBytes`. */
      payload: string;
    };
    HookTaskMade: {
      /** The task; of a hook with `event` the delivery. */
      id: string;
      /** Of the task; null where there is none. */
      status: string | null;
      /** How many runs waited for the event, and go on: of a hook with `event`. */
      resumed?: number | undefined;
    };
    HubSchema: {
      /** What `daemon.hello` states. */
      protocol: number;
      /** Why the hub closes a connection. */
      closeCodes: {
        [key: string]: number;
      };
      /** JSON Schema of each message, by type. */
      daemonToHub: {
        [key: string]: unknown;
      };
      /** JSON Schema of each message, by type. */
      hubToDaemon: {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    Health: {
      /**
       * It is up.
       * @constant
       */
      ok: true;
    };
    Readiness: {
      /** Whether it can take work. */
      ok: boolean;
      /** What keeps it from that. */
      problems: string[];
      /** What is wrong although it can, as a full memory that the API has to be reached for; absent where nothing is. */
      warnings?: string[] | undefined;
    };
    TenantLimitsOutput: {
      /**
       * About how many bytes of Redis's memory it may take. Null is no limit.
       * @default 1073741824
       */
      storedBytes: number | null;
      /**
       * Longest run of one attempt, in milliseconds.
       * @default 3600000
       */
      maxTimeoutMs: number | null;
      /**
       * How long tasks are kept after their end, where that is shorter than the configured time. Null is no time of its own.
       * @default null
       */
      retentionMs: number | null;
      /**
       * Grants at once: tasks that run, and tasks whose ticket waits for a worker. Null is no limit.
       * @default 20
       */
      running: number | null;
      /**
       * Tasks accepted but without a grant. Null is no limit.
       * @default 100
       */
      waiting: number | null;
      /**
       * Grants at once per class of source.
       * @default {
       *       "proactive": 10,
       *       "user": 15,
       *       "webhook": 5
       *     }
       */
      runningByClass: {
        [key: string]: number;
      };
      /**
       * Grants at once for tasks of priority 1. Null is no limit.
       * @default 5
       */
      runningLow: number | null;
      /**
       * Its share of the slots while tenants take turns, relative to the others: 2 gets twice as much as 1.
       * @default 1
       */
      weight: number;
      /**
       * Grants at once per agent, instead of the agent's own `maxRunning`.
       * @default {}
       */
      runningByAgent: {
        [key: string]: number;
      };
      /**
       * Tasks accepted per class of source, and in all.
       * @default {
       *       "proactive": {
       *         "perMinute": 50,
       *         "perHour": 500,
       *         "burst": 100
       *       },
       *       "user": {
       *         "perMinute": 60,
       *         "perHour": 1000,
       *         "burst": 60
       *       },
       *       "webhook": {
       *         "perMinute": 100,
       *         "perHour": 2000,
       *         "burst": 100
       *       },
       *       "all": {
       *         "perMinute": 500,
       *         "perHour": 10000,
       *         "burst": 500
       *       }
       *     }
       */
      rates: {
        [key: string]: {
          /**
           * How many in a minute.
           * @default 60
           */
          perMinute: number;
          /**
           * How many in an hour.
           * @default 1000
           */
          perHour: number;
          /** How many may come at once before the rate counts. */
          burst?: number | undefined;
        };
      };
    };
    SetSessionModeRequest: {
      /**
       * What becomes of a message that meets work of its session.
       */
      mode: "queue" | "interrupt" | "collect" | "steer" | "latest" | "reject" | "default" | "reset";
    };
    CreateVisitorRequest: {
      /** Who writes the messages that come with it. */
      name?: string | undefined;
      /** In how many milliseconds it expires. */
      expiresInMs?: number | undefined;
    };
    /** What the provider sends. */
    ReceiveWebhookRequest: unknown;
    /** What the platform sends. */
    ReceiveChatUpdateRequest: unknown;
  };
  responses: {
    /** `auth.missing`: A key is needed. `auth.invalid`: The key is not known. */
    Unauthenticated: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `tenant.ended`: The tenant was deleted. */
    TenantEnded: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `request.too-large`: The request is larger than allowed. */
    TooLarge: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `request.unsupported-media-type`: The content type is not supported. */
    UnsupportedMediaType: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `request.malformed`: The request is not well formed. `request.method-not-allowed`: The address does not take this method. `request.timeout`: The request did not arrive in time. `request.headers-too-large`: The address or the headers are larger than allowed. `record.unreadable`: The record cannot be read by this version. `internal.error`: Something went wrong here. */
    Problem: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. */
    Forbidden: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `request.invalid`: The request does not fit its schema. */
    Invalid: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. */
    TooMany: {
      headers: {
        /** Seconds until it may succeed. */
        "Retry-After"?: number | undefined;
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
    /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. */
    Unavailable: {
      headers: {
        /** Seconds until it may succeed. */
        "Retry-After"?: number | undefined;
        [name: string]: unknown;
      };
      content: {
        "application/problem+json": components["schemas"]["Problem"];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type TaskRequest = components['schemas']['TaskRequest'];
export type Attachment = components['schemas']['Attachment'];
export type BulkRequest = components['schemas']['BulkRequest'];
export type ActionRequest = components['schemas']['ActionRequest'];
export type TaskStatus = components['schemas']['TaskStatus'];
export type ActionFilter = components['schemas']['ActionFilter'];
export type CancelRequest = components['schemas']['CancelRequest'];
export type RetryRequest = components['schemas']['RetryRequest'];
export type InputRequest = components['schemas']['InputRequest'];
export type PriorityRequest = components['schemas']['PriorityRequest'];
export type QuestionAnswer = components['schemas']['QuestionAnswer'];
export type CheckpointRequest = components['schemas']['CheckpointRequest'];
export type EventRequest = components['schemas']['EventRequest'];
export type MessageRequest = components['schemas']['MessageRequest'];
export type EndpointRequest = components['schemas']['EndpointRequest'];
export type AgentDefinition = components['schemas']['AgentDefinition'];
export type AgentPatch = components['schemas']['AgentPatch'];
export type AgentPause = components['schemas']['AgentPause'];
export type BudgetRule = components['schemas']['BudgetRule'];
export type ScheduleRequest = components['schemas']['ScheduleRequest'];
export type ScheduleStatus = components['schemas']['ScheduleStatus'];
export type SchedulePreviewRequest = components['schemas']['SchedulePreviewRequest'];
export type SchedulePatch = components['schemas']['SchedulePatch'];
export type SkipRequest = components['schemas']['SkipRequest'];
export type BackfillRequest = components['schemas']['BackfillRequest'];
export type PersonPatch = components['schemas']['PersonPatch'];
export type NewDaemon = components['schemas']['NewDaemon'];
export type DaemonPatch = components['schemas']['DaemonPatch'];
export type NewTenant = components['schemas']['NewTenant'];
export type TenantLimits = components['schemas']['TenantLimits'];
export type TenantPatch = components['schemas']['TenantPatch'];
export type TenantLimitsPatch = components['schemas']['TenantLimitsPatch'];
export type LimitsPreviewRequest = components['schemas']['LimitsPreviewRequest'];
export type FleetLimitsPatch = components['schemas']['FleetLimitsPatch'];
export type FleetLimitsPreviewRequest = components['schemas']['FleetLimitsPreviewRequest'];
export type KeyRequest = components['schemas']['KeyRequest'];
export type HookRequest = components['schemas']['HookRequest'];
export type HookPatch = components['schemas']['HookPatch'];
export type HookTest = components['schemas']['HookTest'];
export type TaskOrAccepted = components['schemas']['TaskOrAccepted'];
export type Task = components['schemas']['Task'];
export type TaskAttachment = components['schemas']['TaskAttachment'];
export type TaskError = components['schemas']['TaskError'];
export type Outcome = components['schemas']['Outcome'];
export type Usage = components['schemas']['Usage'];
export type Accepted = components['schemas']['Accepted'];
export type Pressure = components['schemas']['Pressure'];
export type Problem = components['schemas']['Problem'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type TaskList = components['schemas']['TaskList'];
export type UnreadableRecord = components['schemas']['UnreadableRecord'];
export type BulkAnswers = components['schemas']['BulkAnswers'];
export type BulkAnswer = components['schemas']['BulkAnswer'];
export type TaskFacets = components['schemas']['TaskFacets'];
export type ActionOrCount = components['schemas']['ActionOrCount'];
export type Action = components['schemas']['Action'];
export type ActionCount = components['schemas']['ActionCount'];
export type ActionList = components['schemas']['ActionList'];
export type TaskWithProgress = components['schemas']['TaskWithProgress'];
export type Progress = components['schemas']['Progress'];
export type Why = components['schemas']['Why'];
export type AttemptList = components['schemas']['AttemptList'];
export type Attempt = components['schemas']['Attempt'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineStep = components['schemas']['TimelineStep'];
export type TaskLog = components['schemas']['TaskLog'];
export type LogEntry = components['schemas']['LogEntry'];
export type Journal = components['schemas']['Journal'];
export type JournalEntry = components['schemas']['JournalEntry'];
export type TaskTree = components['schemas']['TaskTree'];
export type TaskTreeNode = components['schemas']['TaskTreeNode'];
export type ArtifactList = components['schemas']['ArtifactList'];
export type Artifact = components['schemas']['Artifact'];
export type TaskStreamEvent = components['schemas']['TaskStreamEvent'];
export type OutputEvent = components['schemas']['OutputEvent'];
export type LogEvent = components['schemas']['LogEvent'];
export type StatusEvent = components['schemas']['StatusEvent'];
export type EndEvent = components['schemas']['EndEvent'];
export type TaskCancelled = components['schemas']['TaskCancelled'];
export type TaskRetried = components['schemas']['TaskRetried'];
export type InputAccepted = components['schemas']['InputAccepted'];
export type TaskPrioritized = components['schemas']['TaskPrioritized'];
export type QuestionList = components['schemas']['QuestionList'];
export type Question = components['schemas']['Question'];
export type Upload = components['schemas']['Upload'];
export type AddedArtifact = components['schemas']['AddedArtifact'];
export type EventSent = components['schemas']['EventSent'];
export type FailureList = components['schemas']['FailureList'];
export type Failure = components['schemas']['Failure'];
export type UsageList = components['schemas']['UsageList'];
export type SessionList = components['schemas']['SessionList'];
export type SessionSummary = components['schemas']['SessionSummary'];
export type Session = components['schemas']['Session'];
export type ErasedCounts = components['schemas']['ErasedCounts'];
export type Erasure = components['schemas']['Erasure'];
export type CommandOrAccepted = components['schemas']['CommandOrAccepted'];
export type CommandAnswer = components['schemas']['CommandAnswer'];
export type AcceptedMessage = components['schemas']['AcceptedMessage'];
export type SessionStreamEvent = components['schemas']['SessionStreamEvent'];
export type HistoryEvent = components['schemas']['HistoryEvent'];
export type EndedTurn = components['schemas']['EndedTurn'];
export type TurnFile = components['schemas']['TurnFile'];
export type MessageEvent = components['schemas']['MessageEvent'];
export type SessionOutputEvent = components['schemas']['SessionOutputEvent'];
export type SessionStatusEvent = components['schemas']['SessionStatusEvent'];
export type SessionQuestionEvent = components['schemas']['SessionQuestionEvent'];
export type SessionEndEvent = components['schemas']['SessionEndEvent'];
export type Transcript = components['schemas']['Transcript'];
export type Turn = components['schemas']['Turn'];
export type SessionStopped = components['schemas']['SessionStopped'];
export type NewVisitor = components['schemas']['NewVisitor'];
export type VisitorList = components['schemas']['VisitorList'];
export type Visitor = components['schemas']['Visitor'];
export type DeliveryList = components['schemas']['DeliveryList'];
export type Delivery = components['schemas']['Delivery'];
export type CallbackSecret = components['schemas']['CallbackSecret'];
export type CallbackEndpointList = components['schemas']['CallbackEndpointList'];
export type CallbackEndpoint = components['schemas']['CallbackEndpoint'];
export type AgentList = components['schemas']['AgentList'];
export type Agent = components['schemas']['Agent'];
export type BudgetList = components['schemas']['BudgetList'];
export type Budget = components['schemas']['Budget'];
export type BudgetPreview = components['schemas']['BudgetPreview'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduleList = components['schemas']['ScheduleList'];
export type SchedulePreview = components['schemas']['SchedulePreview'];
export type RunAccepted = components['schemas']['RunAccepted'];
export type Backfill = components['schemas']['Backfill'];
export type RunList = components['schemas']['RunList'];
export type Run = components['schemas']['Run'];
export type NotificationStreamEvent = components['schemas']['NotificationStreamEvent'];
export type OpenEvent = components['schemas']['OpenEvent'];
export type Notification = components['schemas']['Notification'];
export type RunNotification = components['schemas']['RunNotification'];
export type TaskNotification = components['schemas']['TaskNotification'];
export type ScheduleNotification = components['schemas']['ScheduleNotification'];
export type BudgetNotification = components['schemas']['BudgetNotification'];
export type ActionNotification = components['schemas']['ActionNotification'];
export type QuestionNotification = components['schemas']['QuestionNotification'];
export type QuestionDigestNotification = components['schemas']['QuestionDigestNotification'];
export type AgentNotification = components['schemas']['AgentNotification'];
export type DaemonNotification = components['schemas']['DaemonNotification'];
export type CircuitNotification = components['schemas']['CircuitNotification'];
export type PressureNotification = components['schemas']['PressureNotification'];
export type FindingNotification = components['schemas']['FindingNotification'];
export type FleetNotification = components['schemas']['FleetNotification'];
export type GapEvent = components['schemas']['GapEvent'];
export type QueueList = components['schemas']['QueueList'];
export type Queue = components['schemas']['Queue'];
export type QueueSwitched = components['schemas']['QueueSwitched'];
export type Fleet = components['schemas']['Fleet'];
export type Worker = components['schemas']['Worker'];
export type FleetDaemon = components['schemas']['FleetDaemon'];
export type Hub = components['schemas']['Hub'];
export type Snapshot = components['schemas']['Snapshot'];
export type Scaling = components['schemas']['Scaling'];
export type AlertRules = components['schemas']['AlertRules'];
export type AlertRule = components['schemas']['AlertRule'];
export type FiringAlert = components['schemas']['FiringAlert'];
export type Alert = components['schemas']['Alert'];
export type Person = components['schemas']['Person'];
export type PersonRole = components['schemas']['PersonRole'];
export type DaemonWithToken = components['schemas']['DaemonWithToken'];
export type DaemonList = components['schemas']['DaemonList'];
export type Daemon = components['schemas']['Daemon'];
export type Providers = components['schemas']['Providers'];
export type Provider = components['schemas']['Provider'];
export type QueueMetrics = components['schemas']['QueueMetrics'];
export type MetricsHistory = components['schemas']['MetricsHistory'];
export type MinuteMetrics = components['schemas']['MinuteMetrics'];
export type AgentMetricsList = components['schemas']['AgentMetricsList'];
export type AgentMetrics = components['schemas']['AgentMetrics'];
export type AttentionList = components['schemas']['AttentionList'];
export type Attention = components['schemas']['Attention'];
export type Now = components['schemas']['Now'];
export type Tenant = components['schemas']['Tenant'];
export type TenantList = components['schemas']['TenantList'];
export type TenantWithSize = components['schemas']['TenantWithSize'];
export type LimitsPreview = components['schemas']['LimitsPreview'];
export type FleetLimitsView = components['schemas']['FleetLimitsView'];
export type FleetLimits = components['schemas']['FleetLimits'];
export type NewKey = components['schemas']['NewKey'];
export type KeyList = components['schemas']['KeyList'];
export type Key = components['schemas']['Key'];
export type SignInLink = components['schemas']['SignInLink'];
export type CheckList = components['schemas']['CheckList'];
export type Check = components['schemas']['Check'];
export type Configuration = components['schemas']['Configuration'];
export type Setting = components['schemas']['Setting'];
export type PersonList = components['schemas']['PersonList'];
export type AuditList = components['schemas']['AuditList'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditActor = components['schemas']['AuditActor'];
export type WebhookRepeated = components['schemas']['WebhookRepeated'];
export type WebhookTaken = components['schemas']['WebhookTaken'];
export type HandshakeAnswer = components['schemas']['HandshakeAnswer'];
export type Hook = components['schemas']['Hook'];
export type HookList = components['schemas']['HookList'];
export type HookDeliveryList = components['schemas']['HookDeliveryList'];
export type HookDelivery = components['schemas']['HookDelivery'];
export type HookDeliveryDetail = components['schemas']['HookDeliveryDetail'];
export type HookTaskMade = components['schemas']['HookTaskMade'];
export type HubSchema = components['schemas']['HubSchema'];
export type Health = components['schemas']['Health'];
export type Readiness = components['schemas']['Readiness'];
export type TenantLimitsOutput = components['schemas']['TenantLimitsOutput'];
export type SetSessionModeRequest = components['schemas']['SetSessionModeRequest'];
export type CreateVisitorRequest = components['schemas']['CreateVisitorRequest'];
export type ReceiveWebhookRequest = components['schemas']['ReceiveWebhookRequest'];
export type ReceiveChatUpdateRequest = components['schemas']['ReceiveChatUpdateRequest'];
export type ResponseUnauthenticated = components['responses']['Unauthenticated'];
export type ResponseTenantEnded = components['responses']['TenantEnded'];
export type ResponseTooLarge = components['responses']['TooLarge'];
export type ResponseUnsupportedMediaType = components['responses']['UnsupportedMediaType'];
export type ResponseProblem = components['responses']['Problem'];
export type ResponseForbidden = components['responses']['Forbidden'];
export type ResponseInvalid = components['responses']['Invalid'];
export type ResponseTooMany = components['responses']['TooMany'];
export type ResponseUnavailable = components['responses']['Unavailable'];
export type $defs = Record<string, never>;
export interface operations {
  listTasks: {
    parameters: {
      query?: {
        /** One or several of pending, queued, scheduled, running, completed, failed, timeout, suspended, cancelled, stale, skipped, permanently_failed; several are separated by commas, or repeated. */
        status?: (string | string[]) | undefined;
        /** Whether skipped occurrences are among them; by default only when `status` names them. */
        skipped?: string | undefined;
        /** Run by this agent. */
        agent?: string | undefined;
        /** From this source. */
        source?: ("chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation") | undefined;
        /** Of this session. */
        session?: string | undefined;
        /** Made by this schedule. */
        schedule?: string | undefined;
        /** With this correlation id. */
        correlation?: string | undefined;
        /** Delegated by this task. */
        parent?: string | undefined;
        /** Made by this trigger, hook or schedule. */
        sourceId?: string | undefined;
        /** Whose last attempt failed with this code. */
        code?: string | undefined;
        /** Accepted at or after. */
        since?: string | undefined;
        /** Accepted before. */
        until?: string | undefined;
        /** Text in the input, output, id, session or error. */
        q?: string | undefined;
        /** Whose last attempt this worker ran. */
        worker?: string | undefined;
        /** Whose last attempt a worker of this release ran. */
        release?: string | undefined;
        /** A field of its metadata, `key:value`; `key:` for any value. Several, which all have to be there, are repeated. */
        metadata?: (string | string[]) | undefined;
        /** The largest first, among the newest `limits.maxPreviewed` tasks, on one page; by default the newest first. */
        sort?: ("cost" | "duration") | undefined;
        /** `csv`: the items as a table with a heading, without cursors (RFC 4180). */
        format?: ("json" | "csv") | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  submitTask: {
    parameters: {
      query?: {
        /** Wait so long for the end of the task. Without an end, `status` is that after the wait. */
        waitMs?: number | undefined;
      } | undefined;
      header?: {
        /** The same key with the same request gives the same task, for a day. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TaskRequest"];
      };
    };
    responses: {
      /** It ended within `waitMs`, or the key came before. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskOrAccepted"];
        };
      };
      /** Accepted: it will reach its end. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Accepted"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `task.source-reserved`: The source is given by Muster itself. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. `task.takes-no-input`: The task takes no input. `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. `task.runaway`: The tasks that delegate to each other were cut. `upload.not-found`: No such upload. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. `unavailable.files`: The storage of files does not answer. `unavailable.fsync`: Redis did not confirm that it is on disk. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  submitTasks: {
    parameters: {
      query?: never;
      header?: {
        /** The same key with the same request gives the same task, for a day. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BulkRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkAnswers"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  countTaskFacets: {
    parameters: {
      query?: {
        /** One or several of pending, queued, scheduled, running, completed, failed, timeout, suspended, cancelled, stale, skipped, permanently_failed; several are separated by commas, or repeated. */
        status?: (string | string[]) | undefined;
        /** Whether skipped occurrences are among them; by default only when `status` names them. */
        skipped?: string | undefined;
        /** Run by this agent. */
        agent?: string | undefined;
        /** From this source. */
        source?: ("chat" | "api" | "proactive" | "webhook" | "schedule" | "delegation") | undefined;
        /** Of this session. */
        session?: string | undefined;
        /** Made by this schedule. */
        schedule?: string | undefined;
        /** With this correlation id. */
        correlation?: string | undefined;
        /** Delegated by this task. */
        parent?: string | undefined;
        /** Made by this trigger, hook or schedule. */
        sourceId?: string | undefined;
        /** Whose last attempt failed with this code. */
        code?: string | undefined;
        /** Accepted at or after. */
        since?: string | undefined;
        /** Accepted before. */
        until?: string | undefined;
        /** Text in the input, output, id, session or error. */
        q?: string | undefined;
        /** Whose last attempt this worker ran. */
        worker?: string | undefined;
        /** Whose last attempt a worker of this release ran. */
        release?: string | undefined;
        /** A field of its metadata, `key:value`; `key:` for any value. Several, which all have to be there, are repeated. */
        metadata?: (string | string[]) | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskFacets"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listActions: {
    parameters: {
      query?: {
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ActionList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createAction: {
    parameters: {
      query?: never;
      header?: {
        /** The same key with the same request makes one action. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ActionRequest"];
      };
    };
    responses: {
      /** The key came before, or it was a dry run. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ActionOrCount"];
        };
      };
      /** Accepted: a worker begins soon. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Action"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.actions`: Too many actions are under way. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getAction: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The action's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Action"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `action.not-found`: No such action. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  cancelAction: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The action's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Action"];
        };
      };
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Action"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `action.not-found`: No such action. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `action.busy`: Others change the action at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskWithProgress"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  deleteTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  explainTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Why"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listAttempts: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AttemptList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getTimeline: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Timeline"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getTaskLog: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskLog"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getJournal: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Journal"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  getJournalEntry: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
        /** The entry's number. */
        seq: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JournalEntry"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. `journal.not-found`: No such entry of the journal. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `seal.key-lost`: It is sealed with a key that is not here. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  getTree: {
    parameters: {
      query?: {
        /** Tasks that it shows at most, of all levels. */
        limit?: number | undefined;
      } | undefined;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskTree"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listArtifacts: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ArtifactList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  downloadArtifact: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
        /** The name of the file. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** The bytes of the file. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": string;
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. `artifact.not-found`: No such artifact. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  downloadAttachment: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
        /** The name of the file. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** The bytes of the file. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": string;
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. `artifact.not-found`: No such artifact. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  streamTask: {
    parameters: {
      query?: {
        /** Id of the event after which to resume. */
        lastEventId?: string | undefined;
      } | undefined;
      header?: {
        /** Id of the event after which to resume. */
        "last-event-id"?: string | undefined;
      } | undefined;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** One server-sent event; `data` is JSON on one line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": components["schemas"]["TaskStreamEvent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.streams`: Too many event streams. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  cancelTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["CancelRequest"];
      };
    } | undefined;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskCancelled"];
        };
      };
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskCancelled"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  retryTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["RetryRequest"];
      };
    } | undefined;
    responses: {
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskRetried"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `task.runaway`: The tasks that delegate to each other were cut. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  sendInput: {
    parameters: {
      query?: never;
      header?: {
        /** The same key with the same request gives the same task, for a day. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["InputRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["InputAccepted"];
        };
      };
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["InputAccepted"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.not-running`: The task does not run. `task.takes-no-input`: The task takes no input. `task.wrong-state`: The task is in another state. `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `task.runaway`: The tasks that delegate to each other were cut. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  changePriority: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PriorityRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TaskPrioritized"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listQuestions: {
    parameters: {
      query?: {
        /** Only those that stand so. */
        status?: ("open" | "answered" | "expired" | "withdrawn") | undefined;
        /** Only those of this task. */
        taskId?: string | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QuestionList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  getQuestion: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The question's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Question"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `question.not-found`: No such question. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  answerQuestion: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The question's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["QuestionAnswer"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Question"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `question.forbidden`: The question is for others. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `question.not-found`: No such question. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `question.answered`: The question was answered before. `question.closed`: The question is no longer open. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `question.invalid`: The answer does not fit the question. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createUpload: {
    parameters: {
      query?: {
        /** What the file is called; `file` by default. */
        name?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "*/*": string;
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Upload"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.unsupported-media-type`: The content type is not supported. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  createSessionUpload: {
    parameters: {
      query?: {
        /** What the file is called; `file` by default. */
        name?: string | undefined;
      } | undefined;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "*/*": string;
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Upload"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.unsupported-media-type`: The content type is not supported. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  downloadLinkedFile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** What the agent was given; it is bound to one attempt and expires. */
        signed: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** The bytes of the file. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": string;
        };
      };
      /** `tenant.disabled`: The tenant is disabled. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `file.link-invalid`: The address of the file is wrong or has expired. `artifact.not-found`: No such artifact. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  uploadLinkedFile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** What the agent was given; it is bound to one attempt and expires. */
        signed: string;
        /** For people. */
        name: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "*/*": string;
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AddedArtifact"];
        };
      };
      /** `tenant.disabled`: The tenant is disabled. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `file.link-invalid`: The address of the file is wrong or has expired. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `file.attempt-over`: The attempt that may add files is over. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  keepCheckpoint: {
    parameters: {
      query?: never;
      header: {
        /** What the call of the agent had in this header, or a program in `MUSTER_ATTEMPT_KEY`: the key of its attempt alone. */
        "muster-attempt-key": string;
      };
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckpointRequest"];
      };
    };
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** `checkpoint.key-invalid`: The key is of no attempt of this task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `checkpoint.attempt-over`: The attempt that may keep checkpoints is over. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.too-large`: The request is larger than allowed. `checkpoint.too-large`: The checkpoint is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  sendEvent: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EventRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["EventSent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listFailures: {
    parameters: {
      query?: {
        /** What the tasks of a group have in common: the error, the agent, or the release. By default error and agent. */
        groupBy?: ("error" | "agent" | "release") | undefined;
        /** Run by this agent. */
        agent?: string | undefined;
        /** Failed with this code. */
        code?: string | undefined;
        /** Whose last attempt a worker of this release ran. */
        release?: string | undefined;
        /** Made by this schedule. */
        schedule?: string | undefined;
        /** Accepted at or after. */
        since?: string | undefined;
        /** Accepted before. */
        until?: string | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FailureList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getUsage: {
    parameters: {
      query?: {
        /** What one item is about. */
        groupBy?: ("day" | "agent" | "model" | "tenant" | "source" | "task" | "session" | "person" | "key" | "schedule") | undefined;
        /** The first day, in UTC: a date, or any time of it. By default 30 days. */
        since?: (string) | undefined;
        /** The last day. Today by default. */
        until?: (string) | undefined;
        /** Days come by name by default, others by cost. */
        sort?: ("cost" | "tokens" | "name") | undefined;
        /** `csv`: the items as a table with a heading, without cursors (RFC 4180). */
        format?: ("json" | "csv") | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UsageList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listSessions: {
    parameters: {
      query?: {
        /** Only those in which something runs or waits. */
        active?: string | undefined;
        /** Only those whose id, or the `user` of whose newest task, holds this text, in any case. */
        q?: string | undefined;
        /** Only those with this `origin`, such as `telegram`, `webchat` or `api`. */
        origin?: string | undefined;
        /** `activity`: the session with the newest task first. */
        sort?: ("id" | "activity") | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SessionList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getSession: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Session"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  eraseSession: {
    parameters: {
      query: {
        /** Has to be there, as this cannot be undone. */
        erase: "" | "true";
      };
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** All of it is gone. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Erasure"];
        };
      };
      /** A worker goes on with it: read it by its id. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Erasure"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.actions`: Too many actions are under way. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  sendMessage: {
    parameters: {
      query?: never;
      header?: {
        /** The same key with the same request gives the same task, for a day. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MessageRequest"];
      };
    };
    responses: {
      /** A command, or the key came before. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CommandOrAccepted"];
        };
      };
      /** Accepted: it will reach its one outcome. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AcceptedMessage"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `task.wrong-state`: The task is in another state. `task.takes-no-input`: The task takes no input. `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. `task.runaway`: The tasks that delegate to each other were cut. `upload.not-found`: No such upload. `schedule.unreadable`: The rule cannot be read. `schedule.unknown-zone`: No such time zone. `schedule.platform-off`: The chat platform is not on. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. `unavailable.files`: The storage of files does not answer. `unavailable.fsync`: Redis did not confirm that it is on disk. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  streamSession: {
    parameters: {
      query?: {
        /** Id of the event after which to resume. */
        lastEventId?: string | undefined;
      } | undefined;
      header?: {
        /** Id of the event after which to resume. */
        "last-event-id"?: string | undefined;
      } | undefined;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** One server-sent event; `data` is JSON on one line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": components["schemas"]["SessionStreamEvent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.streams`: Too many event streams. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getTranscript: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Transcript"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.files`: The storage of files does not answer. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  stopSession: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SessionStopped"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  setSessionMode: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SetSessionModeRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Session"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listVisitors: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VisitorList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createVisitor: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["CreateVisitorRequest"];
      };
    } | undefined;
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["NewVisitor"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.visitors`: Too many visitor tokens. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  revokeVisitor: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The session's id. */
        id: string;
        /** The id of a visitor. */
        visitorId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `visitor.not-found`: No such visitor. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listDeliveries: {
    parameters: {
      query?: {
        /** Where it is. */
        status?: ("pending" | "delivered" | "failed" | "unknown") | undefined;
        /** What it is. */
        kind?: ("reply" | "callback" | "question") | undefined;
        /** The task that it belongs to. */
        task?: string | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DeliveryList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listTaskDeliveries: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The task's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DeliveryList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `task.not-found`: No such task. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  retryDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The delivery's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Delivery"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `delivery.not-found`: No such delivery. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `delivery.wrong-state`: The delivery is in another state. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getCallbackSecret: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CallbackSecret"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeCallbackSecret: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CallbackSecret"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listCallbackEndpoints: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CallbackEndpointList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  enableCallbackEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EndpointRequest"];
      };
    };
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `callback.endpoint-not-found`: No such failing endpoint. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listAgents: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getAgent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `agent.not-found`: No such agent. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  putAgent: {
    parameters: {
      query?: never;
      header?: {
        /** `*`: replaces none; where one of this name exists the answer is 412. */
        "if-none-match"?: "*" | undefined;
      } | undefined;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AgentDefinition"];
      };
    };
    responses: {
      /** Replaced. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      /** Made. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `agent.operator-only`: This agent comes from the configuration only. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `agent.busy`: Others change the agent at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `agent.exists`: with `If-None-Match: *` there is an agent of this name already. */
      412: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteAgent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `agent.operator-only`: This agent comes from the configuration only. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `agent.not-found`: No such agent. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeAgent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AgentPatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `agent.operator-only`: This agent comes from the configuration only. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `agent.not-found`: No such agent. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `agent.busy`: Others change the agent at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  pauseAgent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["AgentPause"];
      };
    } | undefined;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `agent.not-found`: No such agent. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  resumeAgent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The agent's name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["AgentPause"];
      };
    } | undefined;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Agent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `agent.not-found`: No such agent. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listBudgets: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BudgetList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  previewBudget: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BudgetRule"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BudgetPreview"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getBudget: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The budget's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Budget"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `budget.not-found`: No such budget. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  putBudget: {
    parameters: {
      query?: never;
      header?: {
        /** `*`: replaces none; where one of this name exists the answer is 412. */
        "if-none-match"?: "*" | undefined;
      } | undefined;
      path: {
        /** The budget's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BudgetRule"];
      };
    };
    responses: {
      /** Replaced. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Budget"];
        };
      };
      /** Made. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Budget"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `budget.operator-only`: This budget comes from the configuration only. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `budget.exists`: with `If-None-Match: *` there is a budget of this name already. */
      412: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteBudget: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The budget's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      /** `auth.forbidden`: The key lacks the scope. `auth.csrf`: The request did not come from this site. `tenant.disabled`: The tenant is disabled. `budget.operator-only`: This budget comes from the configuration only. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `budget.not-found`: No such budget. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listSchedules: {
    parameters: {
      query?: {
        /** Only schedules with this status. */
        status?: components["schemas"]["ScheduleStatus"] | undefined;
        /** Only schedules of this agent. */
        agent?: string | undefined;
        /** Text in the number (`#12`), id, name, message, rule or agent. */
        q?: string | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ScheduleList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** The same as `idempotencyKey`: the same key with the same request gives the same schedule. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ScheduleRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Schedule"];
        };
      };
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Schedule"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.idempotency-conflict`: The key was used for another schedule. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `schedule.unreadable`: The rule cannot be read. `schedule.unknown-zone`: No such time zone. `schedule.platform-off`: The chat platform is not on. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  previewSchedule: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SchedulePreviewRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SchedulePreview"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `schedule.unreadable`: The rule cannot be read. `schedule.unknown-zone`: No such time zone. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getSchedule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Schedule"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteSchedule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `schedule.busy`: Others change the schedule at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeSchedule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SchedulePatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Schedule"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `schedule.wrong-state`: The schedule is in another state. `schedule.busy`: Others change the schedule at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `request.too-large`: The request is larger than allowed. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `schedule.unreadable`: The rule cannot be read. `schedule.unknown-zone`: No such time zone. `schedule.platform-off`: The chat platform is not on. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  skipOccurrence: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SkipRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Schedule"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `schedule.wrong-state`: The schedule is in another state. `schedule.busy`: Others change the schedule at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  runSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** The same key for the same schedule makes one run. */
        "idempotency-key"?: string | undefined;
      } | undefined;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** The key came before. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunAccepted"];
        };
      };
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunAccepted"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `schedule.wrong-state`: The schedule is in another state. `schedule.busy`: Others change the schedule at the same time. `task.idempotency-conflict`: The key was used for another body. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  backfillSchedule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BackfillRequest"];
      };
    };
    responses: {
      /** Of a dry run. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Backfill"];
        };
      };
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Backfill"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `schedule.wrong-state`: The schedule is in another state. `schedule.busy`: Others change the schedule at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `schedule.range-too-large`: The range has too many occurrences. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  listScheduleRuns: {
    parameters: {
      query?: {
        /** Made at or after: ISO 8601, or seconds or milliseconds since 1970. */
        since?: (string) | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path: {
        /** The schedule's id, or its number. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `schedule.not-found`: No such schedule. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listRuns: {
    parameters: {
      query?: {
        /** Made at or after: ISO 8601, or seconds or milliseconds since 1970. */
        since?: (string) | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  streamNotifications: {
    parameters: {
      query?: {
        /** Separated by commas: `run.*,task.failed`. */
        kinds?: string | undefined;
        /** Id of the event after which to resume. */
        lastEventId?: string | undefined;
      } | undefined;
      header?: {
        /** Id of the event after which to resume. */
        "last-event-id"?: string | undefined;
      } | undefined;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** One server-sent event; `data` is JSON on one line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": components["schemas"]["NotificationStreamEvent"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.streams`: Too many event streams. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listQueues: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QueueList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  pauseQueue: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The queue. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QueueSwitched"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `queue.not-found`: No such queue. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  resumeQueue: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The queue. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QueueSwitched"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `queue.not-found`: No such queue. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getFleet: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Fleet"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getWorker: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The `id` of the worker, or of a hub. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** A worker: what it runs now, and the rest as of its last heartbeat. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Worker"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `worker.not-found`: No such worker. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  drainWorker: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The `id` of the worker, or of a hub. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** A worker: what it runs now, and the rest as of its last heartbeat. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Worker"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `worker.not-found`: No such worker. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getScaling: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The name of the group; `default` unless workers say otherwise. */
        group: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Scaling"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `group.not-found`: No such group of workers. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getAlerts: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AlertRules"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  testAlert: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The name of the rule. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Alert"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `alert.not-found`: No such alert. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      /** `alert.failed`: An alert was not taken. */
      502: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  erasePerson: {
    parameters: {
      query: {
        /** Has to be there, as this cannot be undone. */
        erase: "" | "true";
      };
      header?: never;
      path: {
        /** A signed-in person, a visitor, or the `user` of tasks: the id of somebody in a chat. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** All of it is gone. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Erasure"];
        };
      };
      /** A worker goes on with it: read it by its id. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Erasure"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.actions`: Too many actions are under way. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changePerson: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The person's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PersonPatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Person"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `person.not-found`: No such person. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getErasure: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The erasure's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Erasure"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `erasure.not-found`: No such erasure. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listDaemons: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DaemonList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewDaemon"];
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DaemonWithToken"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `daemon.name-taken`: Another daemon has this name. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.daemons`: Too many daemons. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The daemon's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** A registered daemon, with what its hub knows of it. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Daemon"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `daemon.not-found`: No such daemon. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The daemon's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `daemon.not-found`: No such daemon. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The daemon's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DaemonPatch"];
      };
    };
    responses: {
      /** A registered daemon, with what its hub knows of it. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Daemon"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `daemon.not-found`: No such daemon. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `daemon.name-taken`: Another daemon has this name. `daemon.busy`: Others change the daemon at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  rotateDaemonToken: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The daemon's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DaemonWithToken"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `daemon.not-found`: No such daemon. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `daemon.busy`: Others change the daemon at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listProviders: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Providers"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getQueueMetrics: {
    parameters: {
      query?: {
        /** Whose figures: of the tenant of the key, or of the fleet. */
        scope?: ("tenant" | "fleet") | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** Means, quantiles and rates are of the last `metrics.windowMs`, a quarter of an hour; 0 without a task. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QueueMetrics"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getMetricsHistory: {
    parameters: {
      query?: {
        /** Whose figures: of the tenant of the key, or of the fleet. */
        scope?: ("tenant" | "fleet") | undefined;
        /** How many, up to now. */
        minutes?: number | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["MetricsHistory"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listAgentMetrics: {
    parameters: {
      query?: {
        /** How many, up to now. */
        hours?: number | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentMetricsList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listAttention: {
    parameters: {
      query?: {
        /** Whether those that somebody acknowledged are listed too. */
        acknowledged?: ("true" | "false") | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AttentionList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  acknowledgeAttention: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Its `id` in `GET /v1/attention`. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Attention"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `finding.not-found`: No such finding. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getNow: {
    parameters: {
      query?: {
        /** How many running tasks. */
        limit?: number | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Now"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listTenants: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TenantList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createTenant: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewTenant"];
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Tenant"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.exists`: The tenant exists already. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getTenant: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TenantWithSize"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteTenant: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeTenant: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TenantPatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Tenant"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `tenant.busy`: Others change the tenant at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  previewLimits: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LimitsPreviewRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["LimitsPreview"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getFleetLimits: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FleetLimitsView"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  resetFleetLimits: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FleetLimitsView"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `limits.busy`: Others change the fleet's limits at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeFleetLimits: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FleetLimitsPatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FleetLimitsView"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `limits.busy`: Others change the fleet's limits at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  previewFleetLimits: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FleetLimitsPreviewRequest"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["LimitsPreview"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listKeys: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["KeyList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createKey: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeyRequest"];
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["NewKey"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  revokeKey: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The tenant's id. */
        id: string;
        /** The key's id. */
        keyId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `tenant.not-found`: No such tenant. `key.not-found`: No such key. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createSignInLink: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SignInLink"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      /** `limit.rate`: this key made as many links in the last minute as it may sign in (`limits.signInsOfKeyPerMinute`). */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listChecks: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CheckList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getConfiguration: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Configuration"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listPeople: {
    parameters: {
      query?: {
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PersonList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  endSignIns: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** The person's id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `person.not-found`: No such person. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listAudit: {
    parameters: {
      query?: {
        /** Id of who acted, or part of the name. */
        who?: string | undefined;
        /** The action, such as `cancelTask`. */
        action?: string | undefined;
        /** What the object begins with, such as `tasks/` or `schedules/01K`. */
        object?: string | undefined;
        /** Only of this outcome. */
        outcome?: ("done" | "refused" | "failed") | undefined;
        /** Part of the actor, action (also as people read it), object, address, code or field names. */
        q?: string | undefined;
        /** Done at or after. */
        since?: string | undefined;
        /** Done before. */
        until?: string | undefined;
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
        /** `ndjson`: all entries that fit, one a line, without pages. */
        format?: ("json" | "ndjson") | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AuditList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  receiveWebhook: {
    parameters: {
      query?: never;
      header?: {
        /** `github`: `sha256=` and the HMAC of the body in hex. */
        "x-hub-signature-256"?: string | undefined;
        /** `github`: the event. */
        "x-github-event"?: string | undefined;
        /** `github`: the id of the delivery. */
        "x-github-delivery"?: string | undefined;
        /** `gitlab`: the secret. */
        "x-gitlab-token"?: string | undefined;
        /** `gitlab`: the event. */
        "x-gitlab-event"?: string | undefined;
        /** `gitlab`: the id of the delivery. */
        "idempotency-key"?: string | undefined;
        /** `stripe`: `t=<seconds>,v1=<HMAC of "<t>.<body>" in hex>`. */
        "stripe-signature"?: string | undefined;
        /** `slack`: `v0=` and the HMAC of `v0:<timestamp>:<body>` in hex. */
        "x-slack-signature"?: string | undefined;
        /** `slack`: seconds since 1970, within 5 minutes of now. */
        "x-slack-request-timestamp"?: string | undefined;
        /** `standard`: the id of the delivery. */
        "webhook-id"?: string | undefined;
        /** `standard`: seconds since 1970, within 5 minutes of now. */
        "webhook-timestamp"?: string | undefined;
        /** `standard`: `v1,` and the HMAC of `<id>.<timestamp>.<body>` in base64; several are separated by spaces. */
        "webhook-signature"?: string | undefined;
        /** `standard`: the same as `webhook-id`, by Svix's name. */
        "svix-id"?: string | undefined;
        /** `standard`: the same as `webhook-timestamp`, by Svix's name. */
        "svix-timestamp"?: string | undefined;
        /** `standard`: the same as `webhook-signature`, by Svix's name. */
        "svix-signature"?: string | undefined;
      } | undefined;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["ReceiveWebhookRequest"];
        "application/x-www-form-urlencoded": unknown;
        "text/plain": unknown;
      };
    } | undefined;
    responses: {
      /** The task, or the event, of the same delivery that came before; or the answer to the sender's handshake, as JSON, text, or a header. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookRepeated"];
        };
      };
      /** A new task, or a new event. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookTaken"];
        };
      };
      /** `request.malformed`: the body or a header cannot be read. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `auth.bad-signature`: the signature is missing, does not match, or is outside of its window. */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `hook.handshake-refused`: the verify token is wrong, the hook has a secret already, or the address to confirm is not its sender's. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `hook.not-found`: there is no such hook, or it or its tenant is disabled. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.timeout`: the body did not go on. */
      408: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `tenant.ended`: the tenant was deleted. */
      410: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.too-large`: the body is over `webhooks.maxBodyBytes`, or as an event over `events.maxBytes`, or has more members and elements than `webhooks.maxBodyValues`. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.unsupported-media-type`: the body is compressed. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `agent.unknown`: the agent of the hook is gone. `request.invalid`: the body is nested deeper than `webhooks.maxBodyDepth`. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** Over a limit of the tenant (`limit.rate`, `limit.waiting`, `limit.pressure`, `limit.budget`, `limit.storage`), or too many requests of this address were refused, or too many bodies are open; `Retry-After` says when to send it again. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: send it again. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  listHooks: {
    parameters: {
      query?: {
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HookList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  createHook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["HookRequest"];
      };
    };
    responses: {
      /** Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Hook"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getHook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Hook"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  deleteHook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** No Content */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  changeHook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["HookPatch"];
      };
    };
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Hook"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `hook.busy`: Others change the hook at the same time. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  listHookDeliveries: {
    parameters: {
      query?: {
        /** Items of a page, at most. */
        limit?: number | undefined;
        /** `nextCursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HookDeliveryList"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getHookDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
        /** The id of the delivery. */
        delivery: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HookDeliveryDetail"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. `hook.delivery-not-found`: No such delivery of a hook is kept. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  replayHookDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
        /** The id of the delivery. */
        delivery: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HookTaskMade"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. `hook.delivery-not-found`: No such delivery of a hook is kept. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `hook.not-replayable`: The delivery cannot be replayed. */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  testHook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** Names the record. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["HookTest"];
      };
    };
    responses: {
      /** Accepted */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HookTaskMade"];
        };
      };
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["Forbidden"];
      /** `hook.not-found`: No such hook. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      410: components["responses"]["TenantEnded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      /** `request.invalid`: The request does not fit its schema. `agent.unknown`: No such agent. */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `limit.rate`: Too many requests. `limit.bodies`: Too many request bodies at once. `limit.waiting`: Too much is waiting already. `limit.pressure`: There is too much work for what can wait. `limit.budget`: A budget is used up. `limit.storage`: Too much is stored already. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`: Redis does not answer. `unavailable.shutting-down`: This process is shutting down. `unavailable.memory`: Redis is nearly full. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  verifyChatWebhook: {
    parameters: {
      query?: {
        /** What WhatsApp asks for. */
        "hub.mode"?: string | undefined;
        /** The token that the operator set at WhatsApp. */
        "hub.verify_token"?: string | undefined;
        /** Text that WhatsApp wants to get back. */
        "hub.challenge"?: string | undefined;
      } | undefined;
      header?: never;
      path: {
        /** The chat platform. */
        platform: "telegram" | "slack" | "discord" | "whatsapp";
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** The challenge. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
      /** The token is another. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
      /** `request.not-found`: there is no such platform, or it is not on. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      422: components["responses"]["Invalid"];
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  receiveChatUpdate: {
    parameters: {
      query?: never;
      header?: {
        /** `telegram`: the secret that the webhook was set with. */
        "x-telegram-bot-api-secret-token"?: string | undefined;
        /** `slack`: `v0=` and the HMAC of `v0:<timestamp>:<body>` in hex. */
        "x-slack-signature"?: string | undefined;
        /** `slack`: seconds since 1970, within 5 minutes of now. */
        "x-slack-request-timestamp"?: string | undefined;
        /** `discord`: the signature of timestamp and body. */
        "x-signature-ed25519"?: string | undefined;
        /** `discord`: seconds since 1970. */
        "x-signature-timestamp"?: string | undefined;
        /** `whatsapp`: `sha256=` and the HMAC of the body in hex. */
        "x-hub-signature-256"?: string | undefined;
      } | undefined;
      path: {
        /** The chat platform. */
        platform: "telegram" | "slack" | "discord" | "whatsapp";
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["ReceiveChatUpdateRequest"];
        "application/x-www-form-urlencoded": unknown;
      };
    } | undefined;
    responses: {
      /** Accepted; with an answer where the platform shows one, to a slash command or to its check of the address. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": unknown;
        };
      };
      /** The adapter cannot read it. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": unknown;
        };
      };
      /** The signature does not match. */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": unknown;
        };
      };
      /** `request.not-found`: there is no such platform, or it is not on. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.too-large`: the body is over `chat.maxBodyBytes`, or has more members and elements than `http.maxBodyValues`. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `request.unsupported-media-type`: the body is compressed. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      422: components["responses"]["Invalid"];
      /** Over a limit; the platform sends it again. */
      429: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** `unavailable.redis`, `unavailable.chat`: not accepted; the platform sends it again. */
      503: {
        headers: {
          /** Seconds until it may succeed. */
          "Retry-After"?: number | undefined;
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  connectDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getHubSchema: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HubSchema"];
        };
      };
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getHealth: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Health"];
        };
      };
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
  getReadiness: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Readiness"];
        };
      };
      429: components["responses"]["TooMany"];
      /** It cannot, and this is why. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Readiness"];
        };
      };
      default: components["responses"]["Problem"];
    };
  };
  getMetrics: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
      429: components["responses"]["TooMany"];
      503: components["responses"]["Unavailable"];
      default: components["responses"]["Problem"];
    };
  };
}
