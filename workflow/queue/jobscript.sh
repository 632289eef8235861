#!/bin/sh
# properties = {properties}
# A queue forgets jobs; so the job itself leaves its exit status where status.py finds it. Snakemake fills in this file:
# braces of the shell stand twice. No trap does this: bash runs it on a signal as well, with an exit status of 0.
notes=${{PRASANGA_QUEUE_FOLDER:-.snakemake/queue}}
job=${{LSB_JOBID:-${{PBS_JOBID:-${{JOB_ID:-unknown}}}}}}
(
{exec_job}
)
ended=$?
if [ -d "$notes" ]; then
    echo "$ended" > "$notes/$job.part" && mv "$notes/$job.part" "$notes/$job.ended"
fi
exit "$ended"
