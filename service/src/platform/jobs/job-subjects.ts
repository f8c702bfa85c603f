// Finds and deletes jobs by their subject: the member of most payloads that has an index.

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

type OpenSubject = { readonly subject: string; readonly queue: string };

export type JobSubjects = {
  /** Lists the waiting and running jobs of these subjects. */
  listOpenSubjects(subjects: readonly string[]): Promise<OpenSubject[]>;
  /** Deletes the jobs of these subjects that wait, except those of some names. */
  cancelWaitingJobs(subjects: readonly string[], except: readonly string[]): Promise<void>;
  /** Deletes up to `limit` jobs that do not run, of these subjects or of an owner. Returns their number. */
  deleteEndedJobs(subjects: readonly string[], owner: string, limit: number): Promise<number>;
};

/** The names come first in the index of open jobs. */
const QUEUES = 'array(select name from pgboss.queue)';
const FIRST = 'array(select jsonb_array_elements_text($1::jsonb))';

/** `member`: a constant name. */
export const subjectsOf = (db: Sql, member: string): JobSubjects => ({
  listOpenSubjects: async (subjects) => {
    const { rows } = await db.executeSql(
      `select data ->> '${member}' as subject, name as queue from pgboss.job
        where name = any(${QUEUES}) and data ->> '${member}' = any(${FIRST}) and state <= 'active'`,
      [JSON.stringify(subjects)],
    );
    return rows as OpenSubject[];
  },
  cancelWaitingJobs: async (subjects, except) => {
    await db.executeSql(
      `delete from pgboss.job
        where name = any(${QUEUES}) and data ->> '${member}' = any(${FIRST}) and state < 'active'
          and name <> all(array(select jsonb_array_elements_text($2::jsonb)))`,
      [JSON.stringify(subjects), JSON.stringify(except)],
    );
  },
  // No index contains completed jobs: one call reads the table once, so `subjects` may be many.
  deleteEndedJobs: async (subjects, owner, limit) => {
    const { rows } = await db.executeSql(
      `delete from pgboss.job
        where (name, id) in (
          select name, id from pgboss.job
           where (data ->> '${member}' in (select jsonb_array_elements_text($1::jsonb)) or group_id = $2)
             and state <> 'active'
           limit $3)
        returning id`,
      [JSON.stringify(subjects), owner, limit],
    );
    return rows.length;
  },
});
