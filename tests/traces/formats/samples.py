"""A small made-up trace of every format: files by name. For fixture tests, and as seeds of the fuzzer."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl

Files = dict[str, bytes]


def _lines(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _documents(*documents: Any) -> bytes:
    return "\n".join(json.dumps(document, indent=2) for document in documents).encode()


def _parquet(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def _swf() -> Files:
    jobs = [
        f"{n} {60 * n} 0 {100 + n} {n % 5 + 1} 50 2048 {n % 5 + 1} 900 4096 1 {n % 3} 1 -1 1 1 -1 -1"
        for n in range(1, 9)
    ]
    extended = [
        f"{n} {1000 + n} 0 50 4 1 1024 4 90 {4 << 30} 1 1 1 1 -1 1 1 1 {{7,7,7,7}} q_1d 2:ppn=2" for n in range(4)
    ]
    return {
        "site.swf": _lines("; MaxProcs: 16", "; MaxNodes: 4", *jobs),
        "extended.swf": _lines(*extended),
        "extended.swf.machines": _lines("0\tfast\t4\t8\t1\t16777216"),
    }


def _sls() -> Files:
    task = {"container.host": "/r/node1", "container.start.ms": 0, "container.end.ms": 5000, "container.type": "map"}
    reduce = {"container.duration.ms": 700, "container.type": "reduce", "container.memory-mb": 2048, "count": 2}
    job = {"job.start.ms": 0, "job.queue.name": "a", "job.id": "j1", "job.user": "u", "job.tasks": [task, task, reduce]}
    nodes = {"rack": "r", "nodes": [{"node": "node1", "memory-mb": 8192, "vcores": 8}, {"node": "node2"}]}
    return {"jobs.json": _documents(job, job), "nodes.json": _documents(nodes)}


def _rumen() -> Files:
    attempt = {
        "hostName": "/r/h1", "startTime": 1_000_000, "finishTime": 1_012_000, "result": "SUCCESS",
        "clockSplits": [1000] * 12, "cpuUsages": [900] * 12, "physMemKbytes": [102_400 + 1024 * n for n in range(12)],
    }  # fmt: skip
    failed = {**attempt, "result": "FAILED"}
    maps = [{"taskType": "MAP", "startTime": 999_000, "attempts": [failed, attempt]} for _ in range(3)]
    reduces = [{"taskType": "REDUCE", "startTime": 999_000, "attempts": [attempt]}]
    other = [{"taskType": "SETUP", "attempts": [attempt]}]
    job = {"jobID": "job_1", "user": "u", "submitTime": 990_000, "queue": "q", "mapTasks": maps, "reduceTasks": reduces}
    return {
        "trace.json": _documents({**job, "otherTasks": other, "jobProperties": {"mapreduce.map.memory.mb": "2048"}})
    }


def _synth() -> Files:
    tasks = [
        {"type": "map", "count": {"val": 3, "std": 1}, "time": {"val": 10, "std": 2}, "max_memory": {"val": 1024}},
        {"type": "reduce", "count": {"val": 2}, "time": {"val": 20}, "max_memory": {"val": 2048}},
    ]
    one = {"class_name": "c", "class_weight": 1.0, "user_name": "u", "tasks": tasks}
    times = [{"time": 1, "weight": 10}, {"time": 60, "weight": 0}]
    load = {
        "workload_name": "w",
        "workload_weight": 1,
        "queue_name": "q",
        "job_classes": [one],
        "time_distribution": times,
    }
    return {"syn.json": _documents({"num_nodes": 3, "num_jobs": 4, "rand_seed": 2, "workloads": [load]})}


def _event(kind: str, name: str, **body: Any) -> str:
    return json.dumps({"type": kind, "event": {f"org.apache.hadoop.mapreduce.jobhistory.{name}": body}})


def _jhist() -> Files:
    counters = {
        "groups": [
            {
                "counts": [
                    {"name": "PHYSICAL_MEMORY_BYTES", "value": 300 << 20},
                    {"name": "CPU_MILLISECONDS", "value": 2000},
                ]
            }
        ]
    }
    totals = {
        "groups": [{"counts": [{"name": "MB_MILLIS_MAPS", "value": 8_192_000}, {"name": "MILLIS_MAPS", "value": 4000}]}]
    }
    lines = ["Avro-Json", json.dumps({"type": "record", "fields": []})]
    lines.append(
        _event("JOB_SUBMITTED", "JobSubmitted", jobid="job_1", userName="u", submitTime=1000, jobQueueName="q")
    )
    for n, kind in enumerate(("MAP", "MAP", "REDUCE")):
        task, attempt = f"task_{n}", f"attempt_{n}"
        lines.append(_event("TASK_STARTED", "TaskStarted", taskid=task, taskType=kind, startTime=2000))
        started = {"taskid": task, "attemptId": attempt, "startTime": 3000, "trackerName": "h1"}
        lines.append(_event(f"{kind}_ATTEMPT_STARTED", "TaskAttemptStarted", **started))
        ended = {
            "taskid": task,
            "attemptId": attempt,
            "finishTime": 5000 + n,
            "shuffleFinishTime": 4000,
            "counters": counters,
        }
        lines.append(_event(f"{kind}_ATTEMPT_FINISHED", "AttemptFinished", taskStatus="SUCCEEDED", **ended))
        lines.append(_event("TASK_FINISHED", "TaskFinished", taskid=task, status="SUCCEEDED"))
    lines.append(_event("TASK_STARTED", "TaskStarted", taskid="task_9", taskType="MAP", startTime=2000))
    lines.append(_event("JOB_FINISHED", "JobFinished", jobid="job_1", finishTime=6000, totalCounters=totals))
    return {"job_1.jhist": _lines(*lines)}


def _spark() -> Files:
    info = {"Stage ID": 1, "Parent IDs": [0], "Number of Tasks": 2}
    events: list[dict[str, Any]] = [
        {
            "Event": "SparkListenerEnvironmentUpdate",
            "Spark Properties": {"spark.executor.memory": "4g", "spark.yarn.queue": "q"},
        },
        {"Event": "SparkListenerApplicationStart", "App ID": "application_1", "Timestamp": 1000, "User": "u"},
        {"Event": "SparkListenerExecutorAdded", "Executor ID": "1", "Executor Info": {"Total Cores": 2}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": {"Stage ID": 0, "Parent IDs": []}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": info},
    ]
    for n in range(4):
        task = {"Task ID": n, "Index": n % 2, "Launch Time": 2000 + n, "Finish Time": 3000 + 10 * n}
        events.append({"Event": "SparkListenerTaskStart", "Stage ID": n // 2, "Task Info": task})
        metrics = {"Executor CPU Time": 5 * 10**8, "Peak Execution Memory": 50 << 20}
        end = {"Stage ID": n // 2, "Task End Reason": {"Reason": "Success"}, "Task Info": task, "Task Metrics": metrics}
        events.append({"Event": "SparkListenerTaskEnd", **end})
    events.append({"Event": "SparkListenerTaskStart", "Stage ID": 1, "Task Info": {"Task ID": 9, "Index": 5}})
    return {"app.log": _lines(*(json.dumps(event) for event in events))}


def _google2011() -> Files:
    rows = []
    for n in range(5):
        head = f"{{}},,{100 + n // 2},{n % 2},{{}},{{}},useruseruseruser=,2,{n},0.05,0.02,0.001,{n % 2}"
        rows += [(600_000_000, head.format(600_000_000, "", 0)), (601_000_000, head.format(601_000_000, 7, 1))]
        if n != 3:
            rows.append((660_000_000 + n, head.format(660_000_000 + n, 7, 4)))
    rows.append((700_000_000, "700000000,,200,0,,0,useruseruseruser=,2,0,0.05,0.02,0.001,0"))
    machines = ["0,7,0,platform=,0.5,0.25", "0,8,0,platform=,1,1", "99,8,1,platform=,,"]
    jobs = ["600000000,,100,0,user=,2,,name="]
    return {
        "task_events.csv": _lines(*(line for _, line in sorted(rows))),
        "machine_events.csv": _lines(*machines),
        "job_events.csv": _lines(*jobs),
    }


def _google2019() -> Files:
    header = "n,collection_id,resource_request,average_usage,start_time,end_time,priority,user,cluster"
    request, use = "{'cpus': 0.02, 'memory': 0.01}", "{'cpus': 0.005,\n 'memory': 0.006}"
    rows = [
        f'{n},9.5E+10,"{request}","{use}",{300 * n}000000,{300 * n + 300}000000,103,user=,{n % 3}' for n in range(4)
    ]
    jobs = ["1,0,5000000,5000000,0.01,0.002,9,[]", "2,9000000,19000000,10000000,0.02,0.001,9,[1]"]
    names = "collection_id,start_time,end_time,time_duration,avg_cpu_usage,avg_memory_usage,record_count"
    return {"instances.csv": _lines(header, *rows), "jobs.csv": _lines(f"{names},start_after_collection_ids", *jobs)}


def _alibaba() -> Files:
    header = (
        "task_create_time, task_end_time, job_id, task_id,number_of_instances, status, "
        "number_of_cpus_requested_per_instance_in_the_task,normalized_memory_requested_per_instance_in_the_task"
    )
    rows = ["100,160,1,1,3,Terminated,50,0.01", "100,150,1,2,1,Terminated,100,0.02", "110,0,2,1,4,Waiting,,"]
    durations = ["0,273,42.5,0.5,0.01,1,1,3,0"]
    return {
        "batch_task.csv": _lines(header, *rows),
        "durations.csv": _lines(",submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk", *durations),
    }


def _openb() -> Files:
    header = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    )
    pods = [
        "p0,4000,8192,1,500,,LS,Running,0,900,1",
        "p1,8000,16384,2,1000,,BE,Running,60,700,61",
        "p2,1,1,0,0,,LS,Pending,5,9,",
    ]
    return {
        "pods_default.csv": _lines(header, *pods),
        "nodes.csv": _lines("sn,cpu_milli,memory_mib,gpu,model", "n0,32000,65536,2,P100", "n1,32000,65536,0,"),
    }


def _philly() -> Files:
    rows = [f"2017-10-0{n + 1} 07:01:55,{66 * n}.0,{n * 3 + 1},66.0,vc{n % 2}" for n in range(5)]
    return {"philly.csv": _lines("timestamp,duration,num_gpus,gpu_time,cluster", *rows, rows[0])}


def _azure() -> Files:
    return {
        "v1.dev.txt": _lines("300 b,|,a,b,|", "600 a,|"),
        "v1.dev.c900.txt": _lines("300 U1,|,U0,C2,|", "600 U1,|"),
        "flav_map.txt": _lines("1,0.75 a", "2,3.5 b"),
        "v1.interval_map.txt": _lines("0 0", "300 1", "600 1", "900 2"),
    }


def _nextflow() -> Files:
    header = "task_id,process,name,status,cpus,memory,submit,start,complete,realtime,%cpu,peak_rss"
    rows = [
        f'{n},FLOW:ALIGN,"align ({n}, x)",{"FAILED" if n == 3 else "COMPLETED"},2,{4 << 30},{1000 * n},{1000 * n + 9},'
        f"{9000 * n + 99},"
        f"{'-' if n == 3 else 8000 * n},{150.5},{'-' if n == 3 else 1 << 30}"
        for n in range(1, 6)
    ]
    return {"trace_flow.csv": _lines(header, *rows)}


def _ksegments() -> Files:
    header = "task,workflow,process,name,first_sample_unix_s,last_sample_unix_s,mem_request_bytes,cpu_request"
    rows = [f"{n},eager,proc{n % 2},name,{1000 + n}.5,{1010 + n}.5,{2 << 30},2" for n in range(3)]
    samples = {
        "task": [n for n in range(3) for _ in range(6)],
        "t_s": [float(2 * k) for _ in range(3) for k in range(6)],
        "mem_mb": [100.0 + 10 * k for _ in range(3) for k in range(6)],
        "cpu_pct": [50.0] * 18,
    }
    return {"tasks.csv": _lines(header, *rows), "samples.parquet": _parquet(**samples)}


def _bitbrains() -> Files:
    n = 12
    return {
        "vms.parquet": _parquet(
            vm_id=[k // 6 for k in range(n)],
            unix_s=[1_376_870_400 + 300 * (k % 6) for k in range(n)],
            cpu_cores=[0 if k == 5 else 4 for k in range(n)],
            cpu_provisioned_mhz=[8000.0] * n,
            cpu_used_mhz=[500.0 + 100 * k for k in range(n)],
            mem_provisioned_kb=[0.0 if k == 5 else 4_194_304.0 for k in range(n)],
            mem_used_kb=[102_400.0 * (k % 3 + 1) for k in range(n)],
        )
    }


def _wfcommons() -> Files:
    tasks = [{"id": f"t{n}", "name": f"t{n}", "parents": [f"t{n - 1}"] if n else [], "children": []} for n in range(3)]
    for n, task in enumerate(tasks):  # each writes what the next one reads; the first reads what nobody wrote
        task |= {"inputFiles": [f"f{n}"], "outputFiles": [f"f{n + 1}", "log"]}
    files = [{"id": f"f{n}", "sizeInBytes": 1000 * n + 7} for n in range(4)]
    runs = [
        {"id": f"t{n}", "runtimeInSeconds": 2.5 * n, "avgCPU": 80.0, "memoryInBytes": 100 << 20, "coreCount": 2}
        for n in range(3)
    ]
    workflow = {"specification": {"tasks": tasks, "files": files}, "execution": {"tasks": runs}}
    return {"flow.json": _documents({"name": "flow", "schemaVersion": "1.5", "workflow": workflow})}


def _tpch() -> Files:
    stage = {"first_wave": {"20": [400, 410], "5": [300]}, "rest_wave": {"20": [350]}, "fresh_durations": {"20": [500]}}
    profile = {"query": 1, "size": "2g", "stages": 2, "edges": [[0, 1]], "durations_ms": [stage, stage]}
    return {"profiles.jsonl": _lines(json.dumps(profile), json.dumps({**profile, "query": 2}))}


SAMPLES: dict[str, Files] = {
    "csv": {
        "tasks.csv": _lines(
            "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,used_vcores,used_memory_mb,queue,user",
            "a,0,1000,1,1024,one,,0.5,512,prod,ann",
            "a,0,2000,1.5,2048,two,one,,,prod,ann",
            '"b, c",5,10,1,1,,,,,dev,bob',
        )
    },
    "sls": _sls(),
    "rumen": _rumen(),
    "synth": _synth(),
    "jhist": _jhist(),
    "spark-eventlog": _spark(),
    "swf": _swf(),
    "swim": {"jobs.tsv": _lines("job0\t49\t49\t740773000\t2339561000\t627471", "job1\t101\t52\t736346\t0\t432269")},
    "google2011": _google2011(),
    "google2019": _google2019(),
    "alibaba2017": _alibaba(),
    "openb": _openb(),
    "philly": _philly(),
    "azure-v1": _azure(),
    "nextflow": _nextflow(),
    "ksegments": _ksegments(),
    "bitbrains": _bitbrains(),
    "wfcommons": _wfcommons(),
    "tpch": _tpch(),
    "coflow": {"coflows.txt": _lines("150 2", "1 0 1 22 1 65:1.0", "2 10833 2 104 132 2 140:48.0 3:2.5")},
}


def write_sample(files: Files, folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder
