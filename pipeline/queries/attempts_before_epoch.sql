-- Whether somebody still works under an older list of targets; guard: run after the commit that raised the epoch, for
-- which the lock on the list let every earlier lease transaction end.
SELECT EXISTS (
    SELECT FROM jobs j JOIN attempts a ON a.job_id = j.job_id AND a.generation = j.generation
    WHERE j.state = 'leased' AND a.epoch < :epoch
)
