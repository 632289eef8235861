configfile: "study.yaml"


module prasanga:
    snakefile:
        "{snakefile}"
    config:
        config


use rule * from prasanga as bias_*


onstart:
    prasanga.onstart()


onsuccess:
    prasanga.onsuccess()


onerror:
    prasanga.onerror()
